import type { Worker } from 'node:worker_threads';
import { heartbeat } from '@recordbus/process/background';

/** How often a worker's memory is checked, in milliseconds. */
const intervalMs = 100;

/**
 * Watches a worker's memory, including buffers, even while its code runs; calls `onExceeded` once when it is above the
 * limit in MiB. Returns a function that ends the watch.
 */
export function watchMemory(worker: Worker, limitMb: number, onExceeded: () => void): () => void {
  const end = heartbeat(intervalMs, async () => {
    // Throws while the worker starts and after it has ended.
    const { used_heap_size, external_memory } = await worker.getHeapStatistics();
    if (used_heap_size + external_memory <= limitMb * 1024 * 1024) return;
    end();
    onExceeded();
  });
  return end;
}
