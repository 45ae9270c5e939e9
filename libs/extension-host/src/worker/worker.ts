import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type MessagePort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../protocol.ts';

/** The thread that an extension lives in: it loads the file, says what that declares, and runs one call after another. */

/** What a worker is started with. */
export interface WorkerData {
  readonly file: string;
  readonly port: MessagePort;
  /** The directory of compiled code, if the process has one. */
  readonly compileCache: string | undefined;
}

const { file, port, compileCache } = workerData as WorkerData;
// Code of the extension may say to the port of every worker what it likes; this one is ours.
Reflect.deleteProperty(workerData, 'port');
// A thread does not have that of its process: without it, most of the time that it takes to load goes into compiling.
if (compileCache) enableCompileCache(compileCache);

const authorsPackage = '@recordbus/extensions';
// Wherever the file of the extension is, this package is there for it.
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
  // Workers are killed sooner than they end.
  flushCompileCache();
} catch (error) {
  say({ type: 'unloadable', error: plainError(error) });
}
