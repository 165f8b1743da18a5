import { randomBytes } from "node:crypto";
import zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Coding, decodeContent, parseCodings } from "./content-coding.ts";

const ENCODERS: Record<Coding, readonly ((body: Buffer) => Buffer)[]> = {
  gzip: [(body) => zlib.gzipSync(body)],
  deflate: [(body) => zlib.deflateSync(body), (body) => zlib.deflateRawSync(body)],
  br: [(body) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })],
};
const REFUSE = { bodyBytes: 1_000_000, overflow: "refuse" } as const;
const CUT = { bodyBytes: 1_000_000, overflow: "cut" } as const;

describe("parseCodings", () => {
  it.each([
    [undefined, []],
    ["", []],
    ["identity", []],
    ["UTF-8", []],
    ["GZIP", ["gzip"]],
    ["x-gzip", ["gzip"]],
    [" deflate , br,", ["deflate", "br"]],
    ["gzip, gzip, gzip", ["gzip", "gzip", "gzip"]],
  ])("reads %j", (header, codings) => {
    expect(parseCodings(header)).toEqual(codings);
  });

  it.each(["zstd", "compress", "gzip, zstd", "gzip, gzip, gzip, gzip"])("rejects %j with a reason", (header) => {
    expect(parseCodings(header)).toEqual(expect.stringContaining("content-encoding"));
  });
});

describe("decodeContent", () => {
  it("decodes any sequence of codings, for small and large bodies", async () => {
    const coding = fc.constantFrom<Coding>("gzip", "deflate", "br");
    await fc.assert(
      fc.asyncProperty(
        fc.array(coding, { maxLength: 3 }),
        fc.oneof(
          fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
          fc.integer({ min: 60_000, max: 200_000 }).map((bytes) => randomBytes(bytes)),
        ),
        fc.nat(1),
        async (codings, body, variant) => {
          const encode = (inner: Buffer, name: Coding): Buffer => ENCODERS[name].at(variant - 1)?.(inner) ?? inner;
          const packed = codings.reduce<Buffer>(encode, body);
          const decoded = await decodeContent(packed, codings, REFUSE);
          // Buffer.equals: comparing 200 KB byte by byte in the matcher takes longer than the rest of the test.
          expect(decoded.kind === "decoded" && !decoded.isCut && decoded.body.equals(body)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("concatenates the members of a gzip file", async () => {
    const packed = Buffer.concat([zlib.gzipSync("one "), zlib.gzipSync("two")]);
    expect(await decodeContent(packed, ["gzip"], REFUSE)).toMatchObject({ body: Buffer.from("one two") });
  });

  it("decodes an empty body as empty for any coding", async () => {
    expect(await decodeContent(Buffer.alloc(0), ["gzip", "br"], REFUSE)).toMatchObject({ body: Buffer.alloc(0) });
  });

  it("accepts a body of exactly the limit and rejects one byte more", async () => {
    const limits = { bodyBytes: 100_000, overflow: "refuse" } as const;
    for (const coding of ["gzip", "deflate", "br"] as const) {
      for (const encode of ENCODERS[coding]) {
        expect((await decodeContent(encode(Buffer.alloc(100_000)), [coding], limits)).kind).toBe("decoded");
        expect(await decodeContent(encode(Buffer.alloc(100_001)), [coding], limits)).toEqual({ kind: "too_big" });
      }
    }
  });

  it.each<[string, number]>([
    ["small enough to be decoded at once", 10_000_000],
    ["big enough to be streamed", 70_000_000],
  ])("stops decoding a bomb %s at the limit", async (_, bytes) => {
    const bomb = zlib.gzipSync(Buffer.alloc(bytes));
    // Its end is corrupt: a decoder that reads up to the end reports it as corrupt.
    bomb.fill(0xff, bomb.length - 64);
    expect(await decodeContent(bomb, ["gzip"], { ...REFUSE, bodyBytes: bytes * 2 })).not.toMatchObject({
      kind: "too_big",
    });
    expect(await decodeContent(bomb, ["gzip"], REFUSE)).toEqual({ kind: "too_big" });
  });

  it("stops decoding a bomb inside a bomb at the inner one", async () => {
    const inner = zlib.gzipSync(Buffer.alloc(10_000_000));
    const packed = zlib.gzipSync(zlib.gzipSync(inner));
    expect(await decodeContent(packed, ["gzip", "gzip", "gzip"], REFUSE)).toEqual({ kind: "too_big" });
  });

  it.each<[Coding, (body: Buffer) => Buffer]>([
    ["gzip", zlib.gzipSync],
    ["deflate", zlib.deflateSync],
    ["br", zlib.brotliCompressSync],
  ])("distinguishes a truncated %s body from a corrupt one", async (coding, encode) => {
    for (const size of [1_000, 200_000]) {
      const packed = encode(randomBytes(size));
      expect(await decodeContent(packed.subarray(0, packed.length - 5), [coding], REFUSE)).toEqual({
        kind: "truncated",
      });
    }
    const plain = Buffer.from("<html>never compressed at all</html>");
    expect(await decodeContent(plain, [coding], REFUSE)).toMatchObject({ kind: "corrupt" });
  });

  it("reports a body with a wrong checksum as corrupt", async () => {
    const packed = zlib.gzipSync("text");
    packed.writeUInt32LE(1, packed.length - 8);
    expect(await decodeContent(packed, ["gzip"], REFUSE)).toMatchObject({ kind: "corrupt" });
  });

  it("truncates the body at the limit if overflow is cut", async () => {
    for (const bytes of [3_000_000, 70_000_000]) {
      const decoded = await decodeContent(zlib.gzipSync(Buffer.alloc(bytes)), ["gzip"], CUT);
      expect(decoded.kind === "decoded" && [decoded.body.length, decoded.isCut]).toEqual([1_000_000, true]);
    }
  });

  it("returns the decoded part of a truncated body if overflow is cut", async () => {
    const packed = zlib.gzipSync(randomBytes(200_000));
    const decoded = await decodeContent(packed.subarray(0, 100_000), ["gzip"], CUT);
    expect(decoded.kind === "decoded" && decoded.isCut && decoded.body.length > 50_000).toBe(true);
  });
});
