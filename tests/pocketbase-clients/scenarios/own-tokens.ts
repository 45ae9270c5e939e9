import type { MailServer } from '../../harness/servers/mail-server.ts';
import { firstAdmin } from '../../harness/stacks/stack.ts';
import type { Scenario } from './read-scenarios.ts';

/** What a token of PocketBase says. */
interface Claims {
  readonly type?: string;
  readonly id?: string;
  readonly exp?: number;
  readonly collectionId?: string;
  readonly email?: string;
  readonly newEmail?: string;
}

const superusers = 'pbc_3142635823';

/** Puts our own tokens where a scenario has valid ones that only PocketBase can have signed. */
export interface OwnTokens {
  replaceIn(scenario: Scenario): Promise<Scenario>;
}

/**
 * Makes the replacement for a stack: an admin's token for a superuser's, and a mailed proof for a mailed proof. Users'
 * sessions need none: the move keeps them. `sessions` are sessions of users, by their ids.
 */
export async function createOwnTokens(
  url: string,
  mail: MailServer,
  sessions: ReadonlyMap<string, string>,
): Promise<OwnTokens> {
  const post = async (path: string, body: object, token?: string) => {
    const answer = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: token }) },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: answer.status === 200 ? Object(await answer.json()) : {} };
  };
  const { email: identity, password } = firstAdmin;
  const signedIn = await post('collections/_superusers/auth-with-password', { identity, password });
  const admin = String(signedIn.json.token);
  const adminsFiles = String((await post('files/token', {}, admin)).json.token);

  /** Asks for the mail, and returns its token; undefined if there is no mail. */
  async function mailed(route: string, body: object, to: string, token?: string): Promise<string | undefined> {
    const isSent = () => mail.received.filter(({ recipients }) => recipients.includes(to)).length;
    const before = isSent();
    const { status } = await post(route, body, token);
    return status === 204 ? (await mail.mailTo(to, { count: before + 1 })).token : undefined;
  }

  async function isVerified(collection: string, id: string): Promise<boolean> {
    const answer = await fetch(`${url}/api/collections/${collection}/records/${id}`, {
      headers: { authorization: admin },
    });
    return Object(await answer.json()).verified === true;
  }

  async function proofFor({ type, email = '', newEmail = '', id = '' }: Claims, collection: string) {
    const path = `collections/${collection}`;
    if (type === 'verification' && !(await isVerified(collection, id)))
      return mailed(`${path}/request-verification`, { email }, email);
    if (type === 'passwordReset') return mailed(`${path}/request-password-reset`, { email }, email);
    if (type === 'emailChange') return mailed(`${path}/request-email-change`, { newEmail }, newEmail, sessions.get(id));
    return undefined;
  }

  return {
    async replaceIn(scenario) {
      const { headers, path, body } = scenario;
      const given = headers?.Authorization;
      if (given !== undefined && isValid(claimsOf(given), superusers))
        return { ...scenario, headers: { ...headers, Authorization: admin } };
      const [, fileToken] = /[?&]token=([^&]+)/.exec(path) ?? [];
      if (fileToken !== undefined && isValid(claimsOf(fileToken), superusers))
        return { ...scenario, path: path.replace(fileToken, adminsFiles) };
      const [, proof] = /"token"\s*:\s*"([^"]+)"/.exec(body ?? '') ?? [];
      const [, collection, route] = /^\/api\/collections\/(\w+)\/confirm-([\w-]+)/.exec(path) ?? [];
      if (proof === undefined || collection === undefined) return scenario;
      const claims = claimsOf(proof);
      const isOwn = isValid(claims, collectionIds[collection]) && claims.type === proofTypes[route ?? ''];
      const own = isOwn ? await proofFor(claims, collection) : undefined;
      return own === undefined ? scenario : { ...scenario, body: body?.replace(proof, own) ?? '' };
    },
  };
}

/** What a route's proof is called in PocketBase. */
const proofTypes: Readonly<Record<string, string>> = {
  verification: 'verification',
  'password-reset': 'passwordReset',
  'email-change': 'emailChange',
};

/** The ids of the auth collections in PocketBase's test data. */
const collectionIds: Readonly<Record<string, string>> = {
  users: '_pb_users_auth_',
  clients: 'v851q4r790rhknl',
  nologin: 'kpv709sk2lqbqk8',
};

const isValid = ({ exp = 0, collectionId }: Claims, ofCollection: string | undefined): boolean =>
  collectionId === ofCollection && exp > Date.now() / 1000;

/** Reads what a token says; `{}` for another text. */
export function claimsOf(token: string): Claims {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return {};
  }
}

/** The sessions of users in the scenarios, by the users' ids. */
export const sessionsIn = (scenarios: readonly Scenario[]): Map<string, string> =>
  new Map(
    scenarios.flatMap(({ headers }) => {
      const token = headers?.Authorization ?? '';
      const { id, type, exp = 0 } = claimsOf(token);
      return id !== undefined && type === 'auth' && exp > Date.now() / 1000 ? [[id, token] as const] : [];
    }),
  );
