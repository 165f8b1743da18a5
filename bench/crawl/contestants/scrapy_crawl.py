"""Crawls with Scrapy: python3 scrapy_crawl.py '{"urls": [...], "concurrency": 64, "perSite": 4, "intervalMs": 250, "out": "..."}'.

The settings are those that Scrapy's documentation advises for broad crawls. The spider follows links of the same host
and stores title, description, 5,000 characters of text and links, as a Trawl crawl without rules does.
"""

import json
import re
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

TEXT_CHARS = 5000
OPTIONS = json.loads(sys.argv[1])


class SiteSpider(scrapy.Spider):
    name = "sites"

    def start_requests(self):
        # With its default start_requests, Scrapy fetches a start URL again if a page links to it.
        for url in OPTIONS["urls"]:
            yield scrapy.Request(url)

    def parse(self, response):
        host = urlsplit(response.url).netloc
        links = [response.urljoin(href) for href in response.css("a::attr(href)").getall()]
        text = " ".join(response.xpath("//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript)]").getall())
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "description": response.css('meta[name="description"]::attr(content)').get(),
            "text": re.sub(r"\s+", " ", text).strip()[:TEXT_CHARS],
            "links": links,
        }
        for link in links:
            if urlsplit(link).netloc == host:
                yield scrapy.Request(link)


settings = {
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "CONCURRENT_REQUESTS": OPTIONS["concurrency"],
    "CONCURRENT_REQUESTS_PER_DOMAIN": OPTIONS["perSite"],
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "LOG_LEVEL": "ERROR",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "AJAXCRAWL_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    "FEEDS": {OPTIONS["out"]: {"format": "jsonlines"}},
}
if "intervalMs" in OPTIONS:
    settings["DOWNLOAD_DELAY"] = OPTIONS["intervalMs"] / 1000
    settings["RANDOMIZE_DOWNLOAD_DELAY"] = False

process = CrawlerProcess(settings)
crawler = process.create_crawler(SiteSpider)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
print(json.dumps({"pages": stats.get("downloader/response_status_count/200", 0), "records": stats.get("item_scraped_count", 0)}))
