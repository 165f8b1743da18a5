"""OpenStack Swift with its S3 API, for tests: account, container, object and proxy server in one process on loopback.

Usage: serve.py FOLDER ACCOUNT:USER SECRET REGION. Writes the port of the S3 API to stdout when it serves. When its
standard input is closed, it removes its folder and exits: that is, when the process that started it ends in any way.
"""
import eventlet
from eventlet import hubs, wsgi
from swift.common.utils import eventlet_monkey_patch, get_hub

hubs.use_hub(get_hub())
eventlet_monkey_patch()

import json
import os
import shutil
import sys
import traceback
import warnings

from swift.common import utils
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

# S3 clients expect "ETag", not "Etag". eventlet warns if the names of headers are left unchanged.
warnings.simplefilter("ignore", DeprecationWarning)

STORAGE = ("account", "container", "object")

SWIFT = """
[swift-hash]
swift_hash_path_prefix = trawl
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
"""

STORAGE_SERVER = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""

# tempauth stores the users; s3api checks every signature against their secrets.
PROXY_SERVER = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = {region}
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_{user} = {secret} .admin
[filter:slo]
use = egg:swift#slo
"""


def main():
    folder, user, secret, region = sys.argv[1:5]
    os.makedirs(os.path.join(folder, "devices", "d1"), exist_ok=True)
    write(folder, "swift.conf", SWIFT)
    utils.set_swift_dir(folder)
    utils.disable_fallocate()
    listening = {kind: listen() for kind in STORAGE}
    for kind, sock in listening.items():
        make_ring(folder, kind, sock.getsockname()[1])
        conf = write(folder, kind + "-server.conf", STORAGE_SERVER.format(folder=folder, kind=kind))
        serve(conf, kind, sock)
    values = {"folder": folder, "region": region, "user": user.replace(":", "_"), "secret": secret}
    conf = write(folder, "proxy-server.conf", PROXY_SERVER.format(**values))
    front = listen()
    serve(conf, "proxy", front)
    print(json.dumps({"port": front.getsockname()[1]}), flush=True)
    wait_for_end_of_input()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def listen():
    return eventlet.listen(("127.0.0.1", 0), backlog=1024)


def make_ring(folder, kind, port):
    builder = RingBuilder(1, 1, 0)
    device = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d1", "weight": 1}
    builder.add_dev({**device, "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, kind + ".ring.gz"))


def serve(conf_file, kind, sock):
    app = with_cache(loadapp(conf_file, global_conf={"log_name": kind}))

    def run():
        try:
            # Like Swift's run_server, which can serve only one application per process.
            log = utils.NullLogger()
            wsgi.server(sock, app, log, protocol=SwiftHttpProtocol, capitalize_response_headers=False)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    eventlet.spawn(run)


class NoCache:
    """Replaces memcached, which parts of Swift require. It stores nothing, so Swift always reads the original."""

    def get(self, *_, **__):
        return None

    def set(self, *_, **__):
        return None

    delete = set

    def incr(self, *_, **__):
        return 0


def with_cache(app):
    cache = NoCache()

    def cached(env, start_response):
        env["swift.cache"] = cache
        return app(env, start_response)

    return cached


def wait_for_end_of_input():
    hubs.trampoline(0, read=True)
    while os.read(0, 1024):
        hubs.trampoline(0, read=True)


main()
