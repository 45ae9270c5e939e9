import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MoveResult } from '../move-in.ts';
import type { ArchiveMove, FromMove } from './messages.ts';

const program = fileURLToPath(new URL('./move-process.ts', import.meta.url));

/** The service's variables that the process gets, without its secrets. */
const passedVariables = ['NODE_COMPILE_CACHE', 'TZ', 'NODE_EXTRA_CA_CERTS'];

/** Thrown for a move that failed, with a sentence for admins. */
export class MoveFailed extends Error {
  /** Whether the same move may succeed later. */
  readonly mayRetry: boolean;
  constructor(message: string, mayRetry: boolean) {
    super(message);
    this.mayRetry = mayRetry;
  }
}

/**
 * Moves a backup in, or plans it, in a process without the service's secrets. The process ends with the signal, and with
 * this process. Throws MoveFailed.
 */
export async function moveArchive(
  order: ArchiveMove,
  signal: AbortSignal,
  onProgress: (text: string, part: number | undefined) => void,
): Promise<MoveResult> {
  signal.throwIfAborted();
  const environment = Object.fromEntries(passedVariables.map((name) => [name, process.env[name]]));
  // Copies belong on the disk that has room for them. The process gets none of the service's own flags: one removes the
  // channel that keeps it alive.
  const child = fork(program, [], { execArgv: [], env: { ...environment, TMPDIR: order.folder } });
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  let last: FromMove | undefined;
  child.on('message', (message: FromMove) => {
    try {
      if (message.kind === 'progress') onProgress(message.text, message.part);
      else last = message;
    } catch {
      // An invalid message means that the process is broken; it must not harm the service.
      end();
    }
  });
  // A send to a dying process fails. Its exit has the reason.
  child.on('error', () => {});
  const exited = once(child, 'exit');
  child.send(order);
  const [code, killedBy] = await exited;
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  if (last?.kind === 'done') return { report: last.report, hasWork: last.hasWork };
  if (last?.kind === 'failed') throw new MoveFailed(last.message, last.mayRetry);
  throw new MoveFailed(`The process that reads the backup died (${killedBy ?? code}).`, true);
}
