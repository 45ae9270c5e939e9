import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Stack } from '../harness/stack.ts';

/** The effect of a request on the processes of a stack. */
export interface Pause {
  /** The longest wait of a probe for its answer, in milliseconds. */
  readonly waitedMs: number;
  /** The processor time of the busiest process meanwhile, in milliseconds. */
  readonly workedMs: number;
}

/** Watches the event loops of a stack from a thread of its own with repeated requests to /healthz. */
export interface Probe extends AsyncDisposable {
  watch(work: () => Promise<unknown>): Promise<Pause>;
}

/** Opens a probe of every process of the stack that serves HTTP. */
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

/** The processor time of a process in milliseconds; the elapsed time where /proc does not exist. */
function workedMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return performance.now();
  }
}
