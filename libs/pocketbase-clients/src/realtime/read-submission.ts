import { type ClientRequest, readJson } from '../exchange.ts';
import { blank, invalid, Refusal } from '../refusal.ts';

/** Which stream is to follow what. */
export interface ReadSubmission {
  readonly clientId: string;
  readonly topics: readonly string[];
}

const maxTopics = 1000;
const maxClientIdLength = 255;
const maxBytes = 4 * 1024 * 1024;

/** Reads the body of `POST realtime`. Throws 400, and 404 for an id that no stream can have. */
export async function readSubmission(request: ClientRequest): Promise<ReadSubmission> {
  const { clientId, subscriptions = [] } = await readJson(request, maxBytes);
  if (typeof clientId !== 'string' || clientId === '') throw invalid({ clientId: blank });
  if (clientId.length > maxClientIdLength) throw new Refusal(404, 'Missing or invalid client id.');
  const topics: readonly unknown[] = Array.isArray(subscriptions) ? subscriptions : [];
  if (topics.length > maxTopics)
    throw invalid({
      subscriptions: { code: 'validation_length_too_long', message: `The length must be no more than ${maxTopics}.` },
    });
  return { clientId, topics: topics.filter((topic) => typeof topic === 'string') };
}
