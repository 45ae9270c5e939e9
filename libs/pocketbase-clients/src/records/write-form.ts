import type { Collection } from '@recordbus/schema';
import { type Exchange, saysAdmin } from '../exchange.ts';
import { type JsonAnswer, readAnswer } from '../product.ts';
import { type FormTexts, forwardForm } from './form.ts';
import { refuseMembers, writeRequest } from './records.ts';
import { toBody } from './to-body.ts';

/** Creates or updates a record from a form. A new record's id must come before its first file. */
export async function writeForm(
  exchange: Exchange,
  collection: Collection,
  id: string | undefined,
): Promise<JsonAnswer> {
  const { request, call } = exchange;
  const isNew = id === undefined;
  const uploads = new Map<string, boolean>();
  const translate = (texts: FormTexts) => toBody(collection, texts, { id, isAdmin: saysAdmin(request), uploads });
  const answer = await forwardForm(call, request, {
    request: (texts) => writeRequest(exchange, collection, { id, chosen: translate(texts).id }),
    nameFile(part) {
      const name = part.replace(/^\+|[+-]$/g, '');
      uploads.set(name, name !== part);
      return collection.fields.some((field) => field.name === name && field.type === 'file') ? name : undefined;
    },
    finish(texts) {
      const { data, refusals } = translate(texts);
      refuseMembers(refusals, isNew);
      return data;
    },
  });
  return readAnswer(answer);
}
