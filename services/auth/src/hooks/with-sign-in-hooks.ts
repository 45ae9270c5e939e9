import { isHooked, type SignInFlow } from '@recordbus/accounts';
import type { RequestContext } from '@recordbus/shared/context';
import type { Reply, Route } from '@recordbus/shared/http';
import type { AuthParts } from '../auth-parts.ts';
import { authPath } from '../routes/auth-paths.ts';
import { tellOfSignIn } from './tell-of-sign-in.ts';

/** The routes that end in a session, and what hooks call them. */
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

/** The routes with the hooks of extensions around those that sign in: before anything is checked, and after it worked. */
export const withSignInHooks = (routes: readonly Route[], parts: Parts): Route[] =>
  routes.map((route) => {
    const flow = flows[route.paths[0] ?? ''];
    return flow ? hooked(route, flow, parts) : route;
  });

/** What every such route gets, whatever else its declaration says. */
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
    const wantsToKnow = isHooked(accountHooks, 'signedIn', collection);
    const reply = await route.handler(input);
    const userId = wantsToKnow ? userOf(reply) : undefined;
    if (userId !== undefined) await tellOfSignIn(parts, { ...attempt, userId }, context);
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

/** The id of the user who has a session now; undefined while a second factor is waited for. */
const userOf = ({ body }: Reply): string | undefined => {
  const data = memberOf(body, 'data');
  return memberOf(data, 'token') === undefined ? undefined : textAt(memberOf(data, 'record'), 'id');
};
