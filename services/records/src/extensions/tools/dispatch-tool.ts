import type { Query } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import type { QuerySchema } from '@recordbus/query';
import { validationFailed } from '@recordbus/shared/errors';
import { z } from 'zod';
import { principalOfExtension } from '../call-scope.ts';
import { type Tool, tool } from './tool.ts';

interface DispatchDeps {
  readonly query: Query;
  readonly schema: Pick<QuerySchema, 'findCollection'>;
  readonly wakeRelay: () => void;
}

/** As many as a webhook's pattern may have, so that every event can be listened to by its name. */
const maxNameLength = 255;
const maxPayloadBytes = 1024 * 1024;
const controlCharacter = /\p{Cc}/u;

/** `webhooks.dispatch`: puts a custom event into the outbox (interface §6.1), in the write's transaction for its hooks. */
export const dispatchTools = ({ query, schema, wakeRelay }: DispatchDeps): Readonly<Record<string, Tool>> => ({
  'webhooks.dispatch': tool(z.tuple([z.string(), z.string()]), async ({ extension, scope }, [event, payload]) => {
    const problem = findNameProblem(event, schema);
    if (problem) throw validationFailed({ event: problem });
    if (Buffer.byteLength(payload) > maxPayloadBytes)
      throw validationFailed({ payload: `may have at most ${maxPayloadBytes} bytes` });
    const context = { ...scope.context, principal: principalOfExtension(extension) };
    const put = (on: Query) => putEvent(on, { event, data: payload, context });
    const id = await (scope.transaction ? scope.transaction.part((part) => put(part.query)) : put(query));
    wakeRelay();
    return id;
  }),
});

/** Any name that is text, but those that the product gives its own events. */
function findNameProblem(event: string, { findCollection }: DispatchDeps['schema']): string | undefined {
  if (event.trim() === '') return 'must not be empty';
  if (event.length > maxNameLength) return `may have at most ${maxNameLength} characters`;
  if (!event.isWellFormed() || controlCharacter.test(event)) return 'must be text without control characters';
  const [, collection, verb] = /^([^.]*)\.([^.]*)$/.exec(event) ?? [];
  if (collection === 'system' || event.startsWith('system.') || event === 'webhooks.test')
    return 'is an event of the product';
  if (collection && ['create', 'update', 'delete'].includes(verb ?? '') && findCollection(collection))
    return `is an event of the collection ${collection}`;
  return undefined;
}
