import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { environmentPrefix } from '../environment-prefix.ts';
import type { FromRunner, FromWorker, ToRunner } from '../protocol.ts';
import { watchMemory } from './watch-memory.ts';
import type { WorkerData } from './worker.ts';

/**
 * The process whose threads are all extensions' workers. It is separate from the service because a thread that exceeds
 * its memory in one allocation ends its whole process, and because extension code must not find the service's secrets
 * in its environment.
 */

interface RunningWorker {
  readonly worker: Worker;
  readonly port: MessagePort;
}

const workers = new Map<number, RunningWorker>();
const workerFile = fileURLToPath(new URL('./worker.ts', import.meta.url));

const say = (message: FromRunner): void => {
  process.send?.(message);
};

function start(id: number, file: string, memoryMb: number): void {
  const { port1: port, port2 } = new MessageChannel();
  const workerData: WorkerData = { file, port: port2, compileCache: process.env.NODE_COMPILE_CACHE };
  const worker = new Worker(workerFile, {
    workerData,
    transferList: [port2],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith(environmentPrefix))),
    // Higher than the watch's limit. The watch ends most leaks, and V8 ends those that are too fast for it.
    resourceLimits: { maxOldGenerationSizeMb: memoryMb * 4, maxYoungGenerationSizeMb: 32 },
  });
  workers.set(id, { worker, port });
  let reason: string | undefined;
  const unwatch = watchMemory(worker, memoryMb, () => {
    reason = `it used more than ${memoryMb} MiB of memory`;
    void worker.terminate();
  });
  const pass = (message: FromWorker) => say({ kind: 'said', worker: id, message });
  port.on('message', pass);
  worker.on('error', (error: unknown) => {
    reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  });
  worker.on('exit', (code) => {
    unwatch();
    workers.delete(id);
    // Its last messages are passed before its end is reported.
    for (let left = receiveMessageOnPort(port); left; left = receiveMessageOnPort(port)) pass(left.message);
    port.close();
    say({ kind: 'ended', worker: id, reason: reason ?? `it ended by itself, with exit code ${code}` });
  });
}

process.on('message', (message: ToRunner) => {
  if (message.kind === 'start') start(message.worker, message.file, message.memoryMb);
  else if (message.kind === 'post') workers.get(message.worker)?.port.postMessage(message.message);
  else void workers.get(message.worker)?.worker.terminate();
});
// The parent process has ended.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal is for the service, which stops this process when it has finished.
process.on('SIGINT', () => {});
