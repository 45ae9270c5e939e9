import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { unavailable } from '@recordbus/errors';
import { createGate } from '@recordbus/limits/gate';
import type { Logger } from '@recordbus/process/logging';
import { type MailParts, unreadable } from '../received-mail.ts';
import type { FromParser, ToParser } from './protocol.ts';

/** Parses raw mails in a process of its own, one at a time. */
export interface MailParser {
  /** Throws 422 for a mail that is refused, takes too long or ends the process, and 503 when too many wait. */
  parse(bytes: Uint8Array): Promise<MailParts>;
  stop(): void;
}

interface ParserOptions {
  readonly log: Logger;
  /** Tests may have another process, and less time. */
  readonly file?: string;
  readonly timeoutMs?: number;
  readonly startMs?: number;
}

const parserFile = fileURLToPath(new URL('./parser.ts', import.meta.url));

/** How long a mail may take, in milliseconds. Then its process is ended. */
const usualTimeoutMs = 10_000;
/** A new process has this time in addition, in milliseconds. */
const usualStartMs = 10_000;
/** An idle process is ended after this time, in milliseconds. */
const idleMs = 30_000;
/** A process that parsed more bytes than this is ended afterwards: it may keep the memory. */
const heavyBytes = 4 * 2 ** 20;
const maxWaiting = 16;

/** Creates the parser. Its process starts with the first mail. */
export function createMailParser({
  log,
  file = parserFile,
  timeoutMs = usualTimeoutMs,
  startMs = usualStartMs,
}: ParserOptions): MailParser {
  const gate = createGate({ width: 1, maxWaiting, refusal: 'too many mails come in at once' });
  let idle: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const all = new Set<ChildProcess>();

  function launch(): ChildProcess {
    const child = forkParser(file);
    all.add(child);
    child.once('exit', () => {
      all.delete(child);
      if (idle === child) idle = undefined;
    });
    return child;
  }

  function release(child: ChildProcess, bytes: number): void {
    if (isStopped || bytes > heavyBytes) child.kill('SIGKILL');
    if (child.killed || child.exitCode !== null || child.signalCode !== null) return;
    idle = child;
    idleTimer = setTimeout(() => child.kill('SIGKILL'), idleMs).unref();
  }

  async function parseOn(bytes: Uint8Array): Promise<MailParts> {
    if (isStopped) throw unavailable('the service is stopping');
    clearTimeout(idleTimer);
    const taken = idle?.killed ? undefined : idle;
    idle = undefined;
    const child = taken ?? launch();
    try {
      return await ask(child, bytes, taken ? timeoutMs : timeoutMs + startMs);
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error;
      child.kill('SIGKILL');
      // A process may have been ended while it was idle. If a new one ends too, the mail is the reason.
      if (taken && !error.isLate) return parseOn(bytes);
      log.warn({ reason: error.message }, 'a mail that came in was not read');
      throw unreadable('it takes too much time or memory');
    } finally {
      release(child, bytes.length);
    }
  }

  return {
    parse: (bytes) => gate.run(() => parseOn(bytes)),
    stop() {
      isStopped = true;
      for (const child of all) child.kill('SIGKILL');
    },
  };
}

/** The process ended, or took too long. */
class ProcessEnded extends Error {
  readonly isLate: boolean;
  constructor(message: string, isLate: boolean) {
    super(message);
    this.isLate = isLate;
  }
}

/** Sends a mail and returns what the process makes of it. */
function ask(child: ChildProcess, bytes: Uint8Array, timeoutMs: number): Promise<MailParts> {
  const answer = Promise.withResolvers<MailParts>();
  const onMessage = (message: FromParser): void => {
    if (message.kind === 'read') answer.resolve(message.mail);
    else if (message.kind === 'failed') answer.reject(unreadable(message.message.slice(0, 200)));
  };
  const onExit = (code: number | null, signal: string | null): void =>
    answer.reject(new ProcessEnded(`the process ended: ${signal ?? code}`, false));
  const late = (): void => answer.reject(new ProcessEnded(`it took more than ${timeoutMs} ms`, true));
  const timer = setTimeout(late, timeoutMs);
  child.on('message', onMessage);
  child.on('exit', onExit);
  // A failed send means that the process has ended, which is noticed by its exit.
  child.send({ bytes } satisfies ToParser, () => {});
  return answer.promise.finally(() => {
    clearTimeout(timer);
    child.off('message', onMessage);
    child.off('exit', onExit);
  });
}

/** The service's variables that the process gets: none of its secrets. */
const passedVariables = ['NODE_COMPILE_CACHE', 'TZ'];

function forkParser(file: string): ChildProcess {
  const child = fork(file, [], {
    serialization: 'advanced',
    execArgv: ['--max-old-space-size=192'],
    env: Object.fromEntries(passedVariables.map((name) => [name, process.env[name]])),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // A send to a dying process fails. Its exit rejects the work.
  child.on('error', () => {});
  return child;
}
