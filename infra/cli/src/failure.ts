/** What a command is refused with, as a sentence for whoever ran it. Anything else that is thrown is a defect. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** Did the operating system refuse something: a full disk, a missing right? Its message says what. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'errno' in error && 'syscall' in error;

/** What the process ends with. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line can't be read. */
  usage: 2,
  /** The environment can't be used (sysexits.h, EX_CONFIG), as for the services. */
  config: 78,
} as const;
