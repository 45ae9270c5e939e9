import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import type { MintedToken } from '../files/download-tokens.ts';
import { admit, hasPublicFiles, ruleContextOf } from '../files/find-file.ts';
import type { RouteDeps } from './route-deps.ts';

const text = z.string('is required').min(1, 'is required').optional();

const names = ['collection', 'id', 'filename'] as const;

/** All members or none, in JSON Schema. */
const dependentRequired = Object.fromEntries(names.map((name) => [name, names.filter((other) => other !== name)]));

const body = z
  .object({ collection: text, id: text, filename: text })
  .superRefine((given, context) => {
    const members = Object.entries({ collection: given.collection, id: given.id, filename: given.filename });
    if (members.every(([, value]) => value === undefined)) return;
    for (const [name, value] of members)
      if (value === undefined) context.addIssue({ code: 'custom', path: [name], message: 'is required' });
  })
  .meta({
    description: 'the file, by all three members; without any, every file that the caller may see',
    dependentRequired,
  });

/** `POST /api/v1/files/token`. */
export const fileTokenRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    path: ['/api/v1/files/token', '/api/files/token'],
    access: 'public',
    scope: 'files',
    action: 'view',
    summary: 'Create a token for one file, or for every protected file that the caller may see',
    body,
    answers: {
      200: z.object({ token: z.string(), expires_at: z.int() }),
      401: 'the file, or a token for every file, requires signing in',
      403: 'the view rule refuses',
      404: 'no such file',
    },
    handler: async ({ body, context, queryText, header }) => {
      const { tokens } = deps.downloads;
      const { collection: name, id: recordId, filename } = body;
      if (name === undefined || recordId === undefined || filename === undefined)
        return answer(await tokens.mintForAll(context));
      const { principal } = context;
      const request = {
        collection: deps.collections.nameOf(name),
        action: 'view',
        principal,
        isOpenAnyway: hasPublicFiles,
      } as const;
      return deps.collections.serve(request, async (collection) => {
        const file = { recordId, filename };
        const ruleContext = ruleContextOf(principal, deps.schema, { query: queryText, header });
        const found = await deps.downloads.locate(collection, file, ruleContext);
        admit(found, principal);
        return answer(await tokens.mint(collection, file, found, context));
      });
    },
  });

const answer = ({ token, expiresAtSec }: MintedToken) => ok({ token, expires_at: expiresAtSec });
