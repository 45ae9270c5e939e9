import { problemOf } from '../api/problem.ts';
import { toasts } from './toasts.svelte.ts';

/** Runs an action and shows an error as a toast. Returns whether it succeeded. */
export async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toasts.problem(problemOf(error).text);
    return false;
  }
}
