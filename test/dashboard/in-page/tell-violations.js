// Runs in every page before its own scripts: `tellViolation` is the harness.
document.addEventListener("securitypolicyviolation", (event) => {
  const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
  tellViolation(`${effectiveDirective} blocked ${blockedURI} at ${sourceFile}:${lineNumber} ${sample}`);
});
