/** The process's exit codes (operation §8). */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** The environment is invalid (sysexits.h, EX_CONFIG), as for the services. */
  config: 78,
} as const;
