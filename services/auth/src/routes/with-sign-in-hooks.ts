import { isHooked, type SignInFlow } from '@recordbus/accounts';
import type { Reply, Route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { AuthParts } from '../auth-parts.ts';
import { publishSignIn } from '../hooks/publish-sign-in.ts';
import { authPath } from './auth-paths.ts';

/** The routes that end in a session, and their flow names in hooks. */
const flows: Readonly<Record<string, SignInFlow>> = {
  [authPath('/register')]: 'register',
  [authPath('/login')]: 'password',
  [authPath('/login/mfa')]: 'second_factor',
  [authPath('/otp/auth')]: 'otp',
  [authPath('/oauth2/exchange')]: 'oauth2',
  [authPath('/oauth2/merge-confirm')]: 'oauth2',
  [authPath('/anonymous')]: 'anonymous',
  [authPath('/promote')]: 'promote',
};

type Parts = Pick<AuthParts, 'database' | 'bus' | 'accountHooks'>;

/** Wraps the routes that sign in with extensions' hooks: before all checks, and after success (extensions §3.1). */
export const withSignInHooks = (routes: readonly Route[], parts: Parts): Route[] =>
  routes.map((route) => {
    const flow = flows[route.paths[0] ?? ''];
    return flow ? hooked(route, flow, parts) : route;
  });

/** The input that all these routes have. */
interface Input {
  readonly params: { readonly collection: string };
  readonly body?: unknown;
  readonly context: RequestContext;
  header(name: string): string | undefined;
}

function hooked(route: Route, flow: SignInFlow, parts: Parts): Route {
  const handler: Route['handler'] = async (input) => {
    const { params, body, context, header }: Input = input;
    const attempt = {
      flow,
      collection: params.collection,
      email: textAt(body, 'email'),
      userAgent: header('user-agent'),
    };
    const { accountHooks } = parts;
    const collection = { name: params.collection };
    if (isHooked(accountHooks, 'signIn', collection)) await accountHooks.beforeSignIn(attempt, context);
    const isObserved = isHooked(accountHooks, 'signedIn', collection);
    const reply = await route.handler(input);
    const userId = isObserved ? userOf(reply) : undefined;
    if (userId !== undefined) await publishSignIn(parts, { ...attempt, userId }, context);
    return reply;
  };
  return { ...route, handler };
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

function textAt(value: unknown, name: string): string | undefined {
  const found = memberOf(value, name);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the signed-in user's id; undefined while a second factor is missing. */
const userOf = ({ body }: Reply): string | undefined => {
  const data = memberOf(body, 'data');
  return memberOf(data, 'token') === undefined ? undefined : textAt(memberOf(data, 'record'), 'id');
};
