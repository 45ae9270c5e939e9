import type { Worker } from 'node:worker_threads';

/** How often a worker's memory is looked at, in milliseconds. */
const intervalMs = 100;

/**
 * Looks after the memory of a worker, buffers included, also while its code is running, and calls back once when it is
 * more than the limit in MiB. Gives the function that ends the watch.
 */
export function watchMemory(worker: Worker, limitMb: number, onExceeded: () => void): () => void {
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      const { used_heap_size, external_memory } = await worker.getHeapStatistics();
      if (used_heap_size + external_memory <= limitMb * 1024 * 1024) return;
      clearInterval(timer);
      onExceeded();
    } catch {
      // It is starting, or it has ended.
    } finally {
      isAsking = false;
    }
  }, intervalMs);
  return () => clearInterval(timer);
}
