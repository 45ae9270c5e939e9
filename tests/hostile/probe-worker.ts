import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * The pause between an answer and the next probe, in milliseconds. The watched process's pause looks shorter by this
 * much at most, and probing seven processes takes little of a core.
 */
const pauseMs = 20;

interface Watched {
  readonly url: string;
  sentAtMs: number;
  longestMs: number;
}

const watched: Watched[] = (workerData as string[]).map((url) => ({ url, sentAtMs: performance.now(), longestMs: 0 }));
const agent = new Agent({ keepAlive: true });

function probe(target: Watched): void {
  target.sentAtMs = performance.now();
  const next = (): void => {
    target.longestMs = Math.max(target.longestMs, performance.now() - target.sentAtMs);
    setTimeout(probe, pauseMs, target);
  };
  get(`${target.url}/healthz`, { agent }, (answer) => answer.resume().once('end', next)).once('error', next);
}
for (const target of watched) probe(target);

// `reset` starts a measurement; `read` returns the longest wait since then, the pending probe included.
parentPort?.on('message', (message: 'reset' | 'read') => {
  const nowMs = performance.now();
  const longestMs = Math.max(...watched.map((target) => Math.max(target.longestMs, nowMs - target.sentAtMs)));
  if (message === 'reset') for (const target of watched) target.longestMs = 0;
  parentPort?.postMessage(longestMs);
});
