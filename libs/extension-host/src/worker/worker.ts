import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type MessagePort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../protocol.ts';

/** An extension's thread: it loads the file, sends its declarations to the host, and runs one call after another. */

/** A worker's start data. */
export interface WorkerData {
  readonly file: string;
  readonly port: MessagePort;
  /** The directory with compiled code, if the process has one. */
  readonly compileCache: string | undefined;
}

const { file, port, compileCache } = workerData as WorkerData;
// The extension's code cannot reach this port, only the parent port that every worker has.
Reflect.deleteProperty(workerData, 'port');
// A thread does not inherit its process's cache; without it, compiling takes most of the loading time.
if (compileCache) enableCompileCache(compileCache);

const authorsPackage = '@recordbus/extensions';
// The extension can import this package from any directory.
const packageUrl = import.meta.resolve(authorsPackage);
const imported = new Set<string>();
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === authorsPackage) return { url: packageUrl, shortCircuit: true };
    const resolved = next(specifier, context);
    if (resolved.url.startsWith('file:')) imported.add(fileURLToPath(resolved.url));
    return resolved;
  },
});

const say = (message: FromWorker): void => port.postMessage(message);

const { createCalls } = await import('./calls.ts');
const { describeExtension } = await import('./describe-extension.ts');
const { plainError } = await import('./plain-error.ts');
const { createLogWriter } = await import('./log-writer.ts');
const { captureOutput } = await import('./capture-output.ts');

const log = createLogWriter(say);
captureOutput(log);
say({ type: 'loading' });
imported.clear();
try {
  const module: unknown = await import(pathToFileURL(file).href);
  const { extension, description } = describeExtension(module);
  const calls = createCalls(extension, say, log);
  port.on('message', (message: ToWorker) => {
    if (message.type === 'call') void calls.run(message);
    else calls.answer(message.ask, message.outcome);
  });
  say({ type: 'loaded', description, files: [...imported] });
  // Workers are terminated, so nothing else would write the cache.
  flushCompileCache();
} catch (error) {
  say({ type: 'unloadable', error: plainError(error) });
}
