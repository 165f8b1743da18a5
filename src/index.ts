// The type declarations use Node's types. This reference loads them in projects whose tsconfig does not.
/// <reference types="node" preserve="true" />
/** The public API of Trawl: the exports of `import … from "trawl"`. */
export type { Fields, Page } from "./domain/page.ts";
export { ERRORS, type ErrorCode, isTrawlError, TrawlError } from "./errors.ts";
export {
  defineSpider,
  type FollowOptions,
  type Handler,
  type PageContext,
  type Spider,
} from "./spider/define-spider.ts";
export type { StandardSchema } from "./spider/standard-schema.ts";
export type { WrittenJob as JobInput } from "./submit/job-schema.ts";
