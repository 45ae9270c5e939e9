import { problemOf } from '../api/problem.ts';
import { toasts } from './toasts.svelte.ts';

/** Does something that a click asked for. What went wrong is said in the words of the server; returns whether it is done. */
export async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toasts.problem(problemOf(error).text);
    return false;
  }
}
