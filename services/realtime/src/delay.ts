import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after some milliseconds. It does not keep the process alive. */
export const delay = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
