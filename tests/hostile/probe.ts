import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Stack } from '../harness/stacks/stack.ts';

/** What a request does to a stack's processes. */
export interface Pause {
  /** A probe's longest wait for its answer, in milliseconds. */
  readonly waitedMs: number;
  /** The busiest process's processor time meanwhile, in milliseconds. */
  readonly workedMs: number;
}

/** Watches a stack's event loops from its own thread with repeated requests to /healthz. */
export interface Probe extends AsyncDisposable {
  watch(work: () => Promise<unknown>): Promise<Pause>;
}

/** Probes every process in the stack that serves HTTP. */
export async function openProbe(stack: Stack): Promise<Probe> {
  const services = Object.values(stack.services);
  const urls = [stack.url, ...services.map(({ url }) => url)];
  const pids = [stack.process.pid, ...services.map(({ pid }) => pid)];
  const worker = new Worker(new URL('probe-worker.ts', import.meta.url), { workerData: urls });
  async function post(message: 'reset' | 'read'): Promise<number> {
    const answer = once(worker, 'message');
    worker.postMessage(message);
    const [waitedMs] = await answer;
    return Number(waitedMs);
  }
  return {
    async watch(work) {
      await post('reset');
      const before = pids.map(workedMs);
      await work();
      const waitedMs = await post('read');
      return { waitedMs, workedMs: Math.max(...pids.map((pid, index) => workedMs(pid) - (before[index] ?? 0))) };
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

/** Linux counts in hundredths of a second (proc_pid_stat(5), utime and stime). */
const tickMs = 10;

/** A process's processor time in milliseconds; the elapsed time if /proc does not exist. */
function workedMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return performance.now();
  }
}
