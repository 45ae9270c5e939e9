import { after } from 'node:test';
import { isMainThread } from 'node:worker_threads';

/** Longer than the hooks after a file's last test take on a busy machine. */
const limitMs = 60_000;

/** Ends this process with what keeps it running. */
function end(): void {
  const open = [...new Set(process.getActiveResourcesInfo())].sort().join(', ');
  process.stderr.write(`${process.argv[1]} did not end by itself after its last test. Still open: ${open}\n`);
  process.exit(1);
}

// Every test file's process loads this file. A failed test may leave a server or a process behind, which would keep its
// file running until `endHungFiles` kills it, ten minutes later and without the test's message. Threads and programs
// that a test starts may load this too.
if (isMainThread && /\.test\.\w+$/.test(process.argv[1] ?? ''))
  after(() => {
    setTimeout(end, Number(process.env.TEST_END_MS ?? limitMs)).unref();
  });
