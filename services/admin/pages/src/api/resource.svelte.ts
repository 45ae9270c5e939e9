import { untrack } from 'svelte';
import { connection } from './connection.svelte.ts';
import { isAborted, type Problem, problemOf } from './problem.ts';

/** A value that loads from the stack, and loads again when its inputs change. */
export interface Resource<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  reload(): Promise<void>;
  /** Replaces the value until the next load. */
  set(value: T): void;
}

/**
 * Runs a load function while the component lives. When state that the function reads before its first `await` changes,
 * it runs again, and the older run's result is dropped.
 */
export function resource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  let value = $state.raw<T>();
  let problem = $state.raw<Problem>();
  let isLoading = $state(true);
  let current: AbortController | undefined;

  async function run(): Promise<void> {
    current?.abort();
    const own = new AbortController();
    current = own;
    const loaded = load(own.signal);
    isLoading = true;
    try {
      const next = await loaded;
      if (current !== own) return;
      value = next;
      problem = undefined;
    } catch (error) {
      if (current !== own || isAborted(error)) return;
      problem = problemOf(error);
    }
    isLoading = false;
  }

  $effect(() => {
    void run();
    return () => current?.abort();
  });
  // Load again once the stack is back.
  $effect(() => {
    if (connection.returns > 0 && untrack(() => problem?.code === 'network')) void untrack(run);
  });

  return {
    get value() {
      return value;
    },
    get problem() {
      return problem;
    },
    get isLoading() {
      return isLoading;
    },
    reload: run,
    set(next) {
      value = next;
    },
  };
}
