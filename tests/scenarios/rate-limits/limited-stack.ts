import { randomBytes } from 'node:crypto';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { startSecondGateway } from '../../harness/stacks/service-process.ts';
import {
  createGround,
  firstAdmin,
  type Ground,
  type Stack,
  startStack,
  type Topology,
} from '../../harness/stacks/stack.ts';

export interface Rule {
  readonly label: string;
  readonly max: number;
  readonly windowMs?: number;
  readonly audience?: 'all' | 'guest' | 'auth';
}

export interface LimitedCall {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  /** The client address in `X-Forwarded-For`; a new one by default. */
  readonly from?: string;
  readonly body?: unknown;
}

/** A stack whose gateways share their limits, and calls that take turns among them. */
export interface LimitedStack extends AsyncDisposable {
  readonly ground: Ground;
  readonly admin: Client;
  readonly gateways: readonly Client[];
  readonly tokens: { readonly admin: string; readonly ann: string; readonly bob: string };
  /** Sets the rules and waits until every gateway has them. */
  setRules(rules: readonly Rule[] | 'the default'): Promise<void>;
  call(limited: LimitedCall): Promise<Answer>;
  /** Returns the limit that an answer names, if any. */
  limitOf(limited: LimitedCall): Promise<string | undefined>;
  /** Makes this many parallel calls and returns how many were allowed. */
  countAllowed(times: number, limited: LimitedCall): Promise<number>;
}

/** Trusts every peer as a proxy, so that `X-Forwarded-For` names the client. */
const trustedProxies = { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8, ::1, 203.0.113.0/24' };
const hourMs = 3_600_000;
export const password = 'a long and winding password';

let addresses = 0;
export const newAddress = (): string => {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
};

/** Separate processes get a second gateway: what one of them counts applies at the other. */
const gatewaysOf: Readonly<Record<Topology, (stack: Stack) => Promise<{ url: string } & Partial<AsyncDisposable>>>> = {
  one: async (stack) => ({ url: stack.url }),
  processes: (stack) => startSecondGateway(stack, trustedProxies),
};

/** Starts the stack, its gateways and its callers. */
export async function startLimitedStack(topology: Topology): Promise<LimitedStack> {
  await using starting = new AsyncDisposableStack();
  const ground = starting.use(await createGround());
  const stack = starting.use(await startStack({ topology, ground, environment: trustedProxies }));
  const admin = await stack.admin();
  const other = await gatewaysOf[topology](stack);
  starting.defer(async () => other[Symbol.asyncDispose]?.());
  const gateways = [stack.guest, createClient(other.url)];
  const tokens = await createCallers(stack, admin);
  const started = starting.move();

  let turn = 0;
  const call = ({ method = 'GET', path, token, from = newAddress(), body }: LimitedCall): Promise<Answer> => {
    turn += 1;
    const gateway = gateways[turn % gateways.length] ?? stack.guest;
    const headers = { 'X-Forwarded-For': from, ...(token && { Authorization: `Bearer ${token}` }) };
    return gateway.send(method, path, { headers, ...(body !== undefined && { body }) });
  };
  return {
    ground,
    admin,
    gateways,
    tokens,
    setRules: createRuleSetter(admin, gateways),
    call,
    async limitOf(limited) {
      const { headers } = await call(limited);
      return headers['ratelimit-limit'] as string | undefined;
    },
    async countAllowed(times, limited) {
      const answers = await Promise.all(Array.from({ length: times }, () => call(limited)));
      return answers.filter(({ status }) => status !== 429).length;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function createCallers(stack: Stack, admin: Client): Promise<LimitedStack['tokens']> {
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth' });
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'n', type: 'number' }] });
  const register = async (): Promise<string> => {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    return String((await stack.guest.post('/api/v1/auth/people/register', { email, password })).token);
  };
  const { token } = await stack.guest.post('/api/v1/admin/login', firstAdmin, 200);
  return { admin: String(token), ann: await register(), bob: await register() };
}

/** Each rule set has a rule with its own limit, by which a gateway shows that it has the set. */
function createRuleSetter(admin: Client, gateways: readonly Client[]): LimitedStack['setRules'] {
  let marker = 1_000_000;
  return async (rules) => {
    marker += 1;
    const text =
      rules === 'the default'
        ? ''
        : JSON.stringify([
            { label: '/api/v1/health', max: marker, windowMs: 1000 },
            ...rules.map((rule) => ({ windowMs: hourMs, ...rule })),
          ]);
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '1', 'rate_limit.rules': text });
    const expected = rules === 'the default' ? '300' : String(marker);
    await Promise.all(
      gateways.map((gateway) =>
        eventually('the gateway has the rules', async () => {
          const { headers } = await gateway.get('/api/v1/health');
          return headers['ratelimit-limit'] === expected;
        }),
      ),
    );
  };
}
