import { answerTooLarge, mapDatabaseError } from '@recordbus/database';
import { AppError, malformedParameter } from '@recordbus/errors';
import { type Route, type RouteInput, rawJson, route, toJsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { listMembers, parseOrRefuse, readListBody } from '../read/list-body.ts';
import { callOf } from '../rules/rule-context.ts';
import { answerList } from './answer-list.ts';
import { ofSearches } from './list.ts';
import { anyRecord } from './record-schema.ts';
import { type RouteDeps, requestOf } from './route-deps.ts';

const path = '/api/v1/search';
const maxQueries = 10;

/** How long a request begins queries, in milliseconds: its answer comes before the gateway gives up on it. */
const budgetMs = 30_000;

const query = listMembers.extend({ collection: z.string(), search: z.string() });

/** The queries are read one by one, so a refused one does not affect the others. */
const body = z.strictObject({ queries: z.array(z.unknown()).min(1).max(maxQueries) });

const found = z
  .object({
    status: z.literal(200),
    data: z.array(anyRecord),
    page: z.int(),
    perPage: z.int(),
    totalItems: z.int(),
    totalPages: z.int(),
    ...ofSearches,
  })
  .meta({ id: 'SearchAnswer' });
const refusal = z
  .object({
    status: z.int().describe('what the query alone would have been answered with'),
    error: z.string(),
    code: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'SearchRefusal' });

type SearchInput = RouteInput<unknown, unknown, z.output<typeof body>>;

/** `POST /api/v1/search`: searches in several collections (search §6). */
export const searchRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    path,
    access: 'public',
    scope: 'records',
    action: 'list',
    summary: 'Search in several collections',
    body,
    described: { body: toJsonSchema(z.strictObject({ queries: z.array(query).min(1).max(maxQueries) }), 'input') },
    answers: {
      200: z.array(z.union([found, refusal])),
      422: 'queries is not a list with 1 to 10 members',
      429: 'there are more queries than a rate limit allows',
    },
    async handler(input) {
      const headers = await deps.operationLimits.countLists(path, input.body.queries.map(nameOf), input.context);
      return rawJson(200, `{"data":[${(await answerEach(deps, input)).join(',')}]}`, { ...headers });
    },
  });

/** The collection that a query names, for the rate limits; they count a query without one, too. */
const nameOf = (given: unknown): string => z.object({ collection: z.string() }).safeParse(given).data?.collection ?? '';

/**
 * Answers the queries one after the other, each in its caller's turn like a list. Together they are no larger than one
 * answer may be.
 */
async function answerEach(deps: RouteDeps, input: SearchInput): Promise<readonly string[]> {
  const deadlineMs = performance.now() + budgetMs;
  let left = deps.reads.maxAnswerBytes();
  const bounded = { ...deps, reads: { ...deps.reads, maxAnswerBytes: () => left } };
  const answers: string[] = [];
  for (const given of input.body.queries) {
    try {
      if (performance.now() > deadlineMs) throw tooLate();
      const answer = await answerQuery(bounded, given, input);
      left -= Buffer.byteLength(answer);
      if (left < 0) throw answerTooLarge();
      answers.push(`{"status":200,${answer.slice(1)}`);
    } catch (error) {
      answers.push(refusalOf(error));
    }
  }
  return answers;
}

async function answerQuery(deps: RouteDeps, given: unknown, input: SearchInput): Promise<string> {
  const { context, header } = input;
  const { collection: name, ...members } = parseOrRefuse(query, given);
  const { parameters, queryText } = readListBody(members, input);
  if (parameters.search === undefined) throw malformedParameter('search', 'is required');
  return deps.collections.serve(requestOf('list', { params: { collection: name }, context }), (collection) => {
    const call = callOf('GET', { context, header, queryText }, deps);
    return answerList(deps, deps.reads, collection, parameters, call);
  });
}

const tooLate = () => new AppError(422, 'too_expensive', 'the queries before it took too long');

/** A query's refusal as JSON. Throws other errors: they concern the whole request. */
function refusalOf(error: unknown): string {
  const refused = error instanceof AppError ? error : mapDatabaseError(error);
  if (!refused || refused.status >= 500) throw error;
  return JSON.stringify({ status: refused.status, ...refused.toBody() });
}
