/** A certificate authority of a test's own, and certificates it has signed. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Certificates = {
  /** PEM files. */
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
};

/** Why certificates cannot be made here; undefined if they can. */
export function findCertificatesObstacle(): string | undefined {
  return spawnSync("openssl", ["version"]).status === 0 ? undefined : "openssl is not installed";
}

/** Files in `folder`, valid for a day and for 127.0.0.1 only. */
export function makeCertificates(folder: string): Certificates {
  const at = (name: string) => join(folder, name);
  const ca = at("ca.pem");
  openssl("req", "-x509", ...newKey(at("ca.key")), "-days", "1", "-subj", "/CN=Trawl test authority", "-out", ca);
  writeFileSync(at("names.cnf"), "subjectAltName=IP:127.0.0.1\n");
  const signed = (name: string) => {
    const [cert, key, request] = [at(`${name}.pem`), at(`${name}.key`), at(`${name}.csr`)];
    openssl("req", ...newKey(key), "-subj", `/CN=${name}`, "-out", request);
    const authority = ["-CA", ca, "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("names.cnf")];
    openssl("x509", "-req", "-in", request, ...authority, "-days", "1", "-out", cert);
    return { cert, key };
  };
  return { ca, server: signed("server"), client: signed("client") };
}

/** On a curve: an RSA key would take a second. */
function newKey(path: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path];
}

function openssl(...words: string[]): void {
  execFileSync("openssl", words, { stdio: "pipe" });
}
