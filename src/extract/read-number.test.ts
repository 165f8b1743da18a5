import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readInteger, readNumber } from "./read-number.ts";

describe("reading a number", () => {
  it.each([
    ["£51.77", 51.77],
    ["1.234,56 €", 1234.56],
    ["1,234.5", 1234.5],
    ["1,234", 1234],
    ["1,234,567", 1_234_567],
    ["12,34,567.50", 1_234_567.5],
    ["1.234.567", 1_234_567],
    ["1.234.567,8", 1_234_567.8],
    ["1.234", 1.234],
    ["12,5", 12.5],
    ["0,123", 0.123],
    ["1,2345", 1.2345],
    ["12345,678", 12345.678],
    ["1\u202f234,56\u00a0€", 1234.56],
    ["1\u2009234\u2009567", 1_234_567],
    ["1 234 567.25 kr", 1_234_567.25],
    ["CHF 1'234.50", 1234.5],
    ["1’234’567", 1_234_567],
    ["USD 5", 5],
    [".5", 0.5],
    ["45%", 45],
    ["1e3", 1000],
    ["-5", -5],
    ["−5.5", -5.5],
    ["-£5.00", -5],
    ["£-5.00", -5],
    ["-US$ 5", -5],
    ["-EUR 5", -5],
    ["(−1.234,50)", -1234.5],
    ["Model X-5", 5],
    ["3 - 5 days", 3],
    ["from 3 – 5", 3],
    ["now only 19.99!", 19.99],
    ["costs 5.", 5],
    ["4.5 out of 5 stars", 4.5],
  ])("reads %j as %d", (text, value) => {
    expect(readNumber(text)).toBe(value);
  });

  it.each(["", "Call us", "—", "£", "1e999"])("finds no number in %j", (text) => {
    expect(readNumber(text)).toBeNull();
  });

  it("parses every number that JavaScript formats", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(readNumber(String(value))).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it.each([
    ["en-GB", "GBP"],
    ["de-DE", "EUR"],
    ["fr-FR", "EUR"],
    ["de-CH", "CHF"],
    ["en-IN", "INR"],
    ["sv-SE", "SEK"],
    ["ja-JP", "USD"],
  ])("parses every price in cents as the locale %s formats it in %s", (locale, currency) => {
    const format = new Intl.NumberFormat(locale, { style: "currency", currency });
    fc.assert(
      fc.property(fc.integer({ min: -1e11, max: 1e11 }), (cents) => {
        expect(readNumber(format.format(cents / 100))).toBe(cents === 0 ? 0 : cents / 100);
      }),
    );
  });

  it("never throws, and returns a finite number or null", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.,-−–' €£eE+()x\u202f") }), (text) => {
        const value = readNumber(text);
        expect(value === null || Number.isFinite(value)).toBe(true);
      }),
    );
  });

  it("takes linear time on long runs of digits and separators", () => {
    for (const unit of ["1", "1,", "1.", "1 ", "111,", "-", "1,11"]) readNumber(`${unit.repeat(200_000)}x`);
  });
});

describe("reading a whole number", () => {
  it.each([
    ["1.234 Bewertungen", 1234],
    ["1,234 reviews", 1234],
    ["12", 12],
    ["4.0", 4],
    ["-7 °C", -7],
    ["1.234.567", 1_234_567],
  ])("reads %j as %d", (text, value) => {
    expect(readInteger(text)).toBe(value);
  });

  it.each(["4.5 stars", "1.234,5", "none", ""])("finds no number in %j", (text) => {
    expect(readInteger(text)).toBeNull();
  });
});
