import { type Extension, Refusal } from '@recordbus/extensions';
import type { FromWorker, Outcome, PlainError, ToWorker } from '../protocol.ts';
import { HostRefusal } from './host-refusal.ts';
import { invoke } from './invoke.ts';
import type { WriteLog } from './log-writer.ts';
import { plainError } from './plain-error.ts';
import { createTools } from './tools.ts';

type Call = Extract<ToWorker, { type: 'call' }>;

/** Runs the functions of one extension. */
export interface Calls {
  run(call: Call): Promise<void>;
  /** Hands over what the host answered to an `ask`. */
  answer(ask: number, outcome: Outcome): void;
}

/** Makes the calls of an extension; `say` is how the host hears of them. */
export function createCalls(extension: Extension, say: (message: FromWorker) => void, log: WriteLog): Calls {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastAsk = 0;

  const askFor = (call: number) => (method: string, args: unknown[]) => {
    lastAsk += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastAsk, answer);
    say({ type: 'ask', ask: lastAsk, call, method, args });
    return answer.promise;
  };

  return {
    async run({ call, target, input }) {
      try {
        const value = await invoke(extension, target, input, createTools(askFor(call), log));
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

/** A refusal of the extension's or of the host's is an answer to the client, anything else a defect. */
function toPlain(thrown: unknown): PlainError {
  if (thrown instanceof HostRefusal) {
    const { message, stack, status, code, details } = thrown;
    return { message, stack, status, code, details };
  }
  if (thrown instanceof Refusal) {
    const { message, status, fields } = thrown;
    if (!(status >= 400 && status <= 599))
      return { message: `refused with ${status}, which is no status of a refusal` };
    return { message, status, ...(fields && { details: fields }) };
  }
  return plainError(thrown);
}
