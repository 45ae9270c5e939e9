import { type Extension, Refusal } from '@recordbus/extensions';
import type { CallOutcome, FromWorker, PlainError, ToWorker } from '../protocol.ts';
import { HostRefusal } from './host-refusal.ts';
import { invoke } from './invoke.ts';
import type { WriteLog } from './log-writer.ts';
import { plainError } from './plain-error.ts';
import { createTools } from './tools.ts';
import { createTransaction, noTransaction } from './transaction.ts';

type Call = Extract<ToWorker, { type: 'call' }>;

/** Runs one extension's functions. */
export interface Calls {
  run(call: Call): Promise<void>;
  /** Takes the host's answer to an `ask`. */
  answer(ask: number, outcome: CallOutcome): void;
}

/** Creates an extension's calls; `say` sends messages to the host. */
export function createCalls(extension: Extension, say: (message: FromWorker) => void, log: WriteLog): Calls {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastAsk = 0;

  const askFor = (call: number) => async (method: string, args: unknown[]) => {
    lastAsk += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastAsk, answer);
    try {
      if (sizeOf(args) > maxArgumentsSize)
        throw new RangeError(`${method}: the arguments have more than ${maxArgumentsSize} bytes`);
      say({ type: 'ask', ask: lastAsk, call, method, args });
    } catch (error) {
      waiting.delete(lastAsk);
      if (!(error instanceof DOMException)) throw error;
      throw new TypeError(`${method}: an argument cannot be sent: ${error.message}`);
    }
    return answer.promise;
  };

  return {
    async run({ call, target, input }) {
      say({ type: 'begun', call });
      try {
        const ask = askFor(call);
        const transaction = handlerKinds.has(target.kind) ? createTransaction(ask, log) : noTransaction;
        const tools = { ...createTools(ask, log), transaction };
        const value = await invoke(extension, target, input, tools, async (percent, message) => {
          await ask('job.progress', [percent, message]);
        });
        say({ type: 'done', call, outcome: { value } });
      } catch (error) {
        say({ type: 'done', call, outcome: { error: toPlain(error) } });
      }
    },
    answer(ask, outcome) {
      const answer = waiting.get(ask);
      waiting.delete(ask);
      if ('error' in outcome) answer?.reject(new HostRefusal(outcome.error));
      else answer?.resolve(outcome.value);
    },
  };
}

/** The functions that get `transaction`. */
const handlerKinds: ReadonlySet<Call['target']['kind']> = new Set(['route', 'cron', 'job', 'mail']);

/** The service holds the arguments in its own memory. */
const maxArgumentsSize = 16 * 1024 * 1024;

/** Counts the characters and bytes in a value, at any depth. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 0);
}

/**
 * Converts a thrown value: a refusal by the extension or the host is an answer to the client, anything else a defect.
 */
function toPlain(thrown: unknown): PlainError {
  if (thrown instanceof HostRefusal) {
    const { message, stack, status, code, details } = thrown;
    return { message, stack, status, code, details };
  }
  if (thrown instanceof Refusal) {
    const { message, status, fields } = thrown;
    if (!Number.isInteger(status) || status < 400 || status > 599)
      return { message: `refused with ${status}, which is not a refusal status` };
    const details = Object.entries(fields ?? {}).map(([name, problem]) => [name, String(problem)]);
    return { message: message || 'refused', status, ...(fields && { details: Object.fromEntries(details) }) };
  }
  return plainError(thrown);
}
