import type { Collection } from '@recordbus/schema';
import { type Exchange, readJson, segment } from '../exchange.ts';
import { callForJson, type JsonAnswer, type JsonObject } from '../product.ts';
import { blank, invalid, Refusal } from '../refusal.ts';

/** Where an auth collection's routes are in our API. */
export const authPath = ({ name }: Pick<Collection, 'name'>): string => `/api/v1/auth/${segment(name)}`;

/** 403 for a token of another collection. */
export const otherAccount = (name: string) =>
  new Refusal(403, `The request requires auth record from ${name} collection.`);

/** Reads a body and throws 400 for members that are missing. */
export async function readRequired(exchange: Exchange, names: readonly string[]): Promise<JsonObject> {
  const body = await readJson(exchange.request);
  const missing = names.filter((name) => typeof body[name] !== 'string' || body[name] === '');
  if (missing.length > 0) throw invalid(Object.fromEntries(missing.map((name) => [name, blank])));
  return body;
}

/** One character before and one after the sign, and no space; the product decides about the rest. */
const addressLike = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

const noAddress = { code: 'validation_is_email', message: 'Must be a valid email address.' };

/** Reads a body's address. Throws 400 for a text that cannot be one. */
export async function readAddress(exchange: Exchange): Promise<string> {
  const { email } = await readRequired(exchange, ['email']);
  if (!addressLike.test(String(email))) throw invalid({ email: noAddress });
  return String(email);
}

/** Calls an auth collection's route. */
export const post = (
  { call }: Exchange,
  collection: Collection,
  route: string,
  body: JsonObject,
): Promise<JsonAnswer> => callForJson(call, { method: 'POST', path: `${authPath(collection)}/${route}`, body });

/** What PocketBase says where passwords do not sign in. */
export const noPasswords = 'The collection is not configured to allow password authentication.';
