import { altchaChallenge } from '@recordbus/captcha';
import { type Route, rawJson, route, wholeBody } from '@recordbus/http';
import type { AuthParts } from '../auth-parts.ts';
import { admitTo, authParams, authPath } from './auth-paths.ts';

/** The proof of work that callers solve before they sign up or in (auth §10.2). */
export const captchaRoutes = ({ captchas, collections }: Pick<AuthParts, 'captchas' | 'collections'>): Route[] => [
  route({
    method: 'GET',
    path: authPath('/captcha'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Get a proof of work to solve, as ALTCHA clients read it',
    params: authParams,
    answers: {
      200: wholeBody(altchaChallenge),
      404: 'no such auth collection, or it asks for no proof of work',
    },
    admit: admitTo(collections),
    handler: ({ params }) =>
      collections.serve(params.collection, async (collection) =>
        rawJson(200, JSON.stringify(captchas.challenge(collection)), { 'Cache-Control': 'no-store' }),
      ),
  }),
];
