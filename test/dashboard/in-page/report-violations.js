// Runs in every page before its own scripts. The test harness provides `reportViolation`.
document.addEventListener("securitypolicyviolation", (event) => {
  const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
  reportViolation(`${effectiveDirective} blocked ${blockedURI} at ${sourceFile}:${lineNumber} ${sample}`);
});
