/** Thrown when a start fails for an external reason. Its message is for the operator; the exit code is 1. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

/** Returns the sentence for an operating system error; undefined for any other error. */
export function systemRefusal(error: unknown): string | undefined {
  const isSystemError = error instanceof Error && 'errno' in error && 'syscall' in error;
  return isSystemError ? `The start failed: ${error.message}.` : undefined;
}
