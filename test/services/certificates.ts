/** Creates a certificate authority for a test, and certificates signed by it. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Certificates = {
  /** PEM files. */
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
};

/** Why certificates cannot be created here; undefined if they can. */
export function findCertificatesObstacle(): string | undefined {
  return spawnSync("openssl", ["version"]).status === 0 ? undefined : "openssl is not installed";
}

/** Creates the files in `folder`. The certificates are valid for a day and for 127.0.0.1 only. */
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

/** An elliptic curve key: an RSA key would take a second. */
function newKey(path: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path];
}

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: "pipe" });
}
