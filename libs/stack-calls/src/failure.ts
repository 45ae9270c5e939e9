/** The reason a command fails, as a sentence for the operator. Any other error is a defect. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** Whether the operating system refused something, such as a write to a full disk. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'errno' in error && 'syscall' in error;
