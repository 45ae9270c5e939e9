import { isHooked, type SignInFlow, signInFlow } from '@recordbus/accounts';
import type { Reply, Route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { AuthParts } from '../auth-parts.ts';
import { publishSignIn } from '../hooks/publish-sign-in.ts';
import { authPath } from './auth-paths.ts';

/** With an enrollment token they finish a sign-in; with a session they open none. */
const settingUp = [authPath('/totp/confirm'), authPath('/passkeys/register/verify')];

/** The routes on which each way to sign in opens a session. */
export const signInPaths: Readonly<Record<SignInFlow, readonly string[]>> = {
  register: [authPath('/register')],
  password: [authPath('/login')],
  second_factor: [authPath('/login/mfa'), ...settingUp],
  otp: [authPath('/otp/auth')],
  oauth2: [authPath('/oauth2/exchange'), authPath('/oauth2/merge-confirm')],
  passkey: [authPath('/passkeys/login/verify')],
  anonymous: [authPath('/anonymous')],
  promote: [authPath('/promote')],
};

const flows = new Map(
  signInFlow.options.flatMap((flow) => signInPaths[flow].map((path): [string, SignInFlow] => [path, flow])),
);

type Parts = Pick<AuthParts, 'database' | 'bus' | 'accountHooks'>;

/** Wraps the routes that sign in with extensions' hooks: before all checks, and after success (extensions §3.1). */
export const withSignInHooks = (routes: readonly Route[], parts: Parts): Route[] =>
  routes.map((route) => {
    const flow = flows.get(route.paths[0] ?? '');
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
  const setsUp = settingUp.includes(route.paths[0] ?? '');
  const handler: Route['handler'] = async (input) => {
    const { params, body, context, header }: Input = input;
    if (setsUp && context.principal.type !== 'guest') return route.handler(input);
    const attempt = {
      flow,
      collection: params.collection,
      email: textAt(body, 'email'),
      identity: textAt(body, 'identity'),
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
