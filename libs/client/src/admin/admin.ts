import type { Credentials } from '../auth/accounts.ts';
import { createSessions, endSession } from '../auth/own-account.ts';
import { createPasskeys } from '../auth/passkeys.ts';
import type { CodeFactor } from '../auth/sign-in.ts';
import type { Page, PageOptions } from '../records/options.ts';
import type { SessionKeeper } from '../session/keeper.ts';
import type { CallOptions, Transport } from '../transport.ts';
import type { AdminAccount } from './account-types.ts';
import { createBackups } from './backups.ts';
import { createCollections } from './collections.ts';
import { createEvents, type RequestSummary, type SpanOptions } from './events.ts';
import { createExtensionJobs } from './extension-jobs.ts';
import { createJobs, type Erasure, type Job } from './jobs.ts';
import { createKeys } from './keys.ts';
import { createMails } from './mails.ts';
import { createMoves } from './moves.ts';
import type {
  AuditFilter,
  AuditRow,
  Cron,
  CronRun,
  LogFilter,
  LogRow,
  Metric,
  Readiness,
  SettingGroup,
} from './operation-types.ts';
import { createRequests } from './requests.ts';
import { createSavedViews } from './saved-views.ts';
import { createSecondFactor } from './second-factor.ts';
import { createUsers } from './users.ts';
import { createWebhooks } from './webhooks.ts';

/** An admin who has signed in. */
export interface SignedInAdmin {
  readonly state: 'signed_in';
  readonly token: string;
  readonly admin: { readonly id: string; readonly email: string };
}

/** A sign-in that needs a second factor, within five minutes. Nobody is signed in yet. */
export interface AdminMfaRequired {
  readonly state: 'mfa_required';
  readonly mfaToken: string;
  /** Completes the sign-in. A wrong factor is an error with the code `invalid_code`, and may be tried again. */
  confirm(factor: CodeFactor, options?: CallOptions): Promise<SignedInAdmin>;
}

interface SignInAnswer extends Omit<SignedInAdmin, 'state'> {
  readonly mfa_token?: string;
}

type AdminValues = { readonly email?: string; readonly password?: string };
type Settings = Readonly<Record<string, string>>;

/** The admin routes. */
export function createAdmin(transport: Transport, session: SessionKeeper) {
  const requests = createRequests(transport);
  const { get, page, create, post, patch, remove } = requests;
  const send = (path: string, values: object, options?: CallOptions): Promise<SignInAnswer> =>
    transport.data({ method: 'POST', path: `/api/v1/admin/${path}`, values, isAnonymous: true, ...options });
  const signedIn = async ({ token, admin }: SignInAnswer): Promise<SignedInAdmin> => {
    await session.begin(token);
    return { state: 'signed_in', token, admin };
  };
  const confirmMfa = async (mfaToken: string, factor: CodeFactor, options?: CallOptions): Promise<SignedInAdmin> => {
    const proof = 'code' in factor ? { code: factor.code } : { recovery_code: factor.recoveryCode };
    return signedIn(await send('login/mfa', { mfa_token: mfaToken, ...proof }, options));
  };
  const signIn = async (answer: SignInAnswer): Promise<SignedInAdmin | AdminMfaRequired> => {
    const { mfa_token: mfaToken } = answer;
    if (mfaToken === undefined) return signedIn(answer);
    return { state: 'mfa_required', mfaToken, confirm: (factor, own) => confirmMfa(mfaToken, factor, own) };
  };
  return {
    /** Creates the first admin with the set-up token that the start printed, and signs in. */
    setup: async (values: Credentials & { readonly token: string }, options?: CallOptions) =>
      signedIn(await send('setup', values, options)),
    login: async (credentials: Credentials, options?: CallOptions) => signIn(await send('login', credentials, options)),
    /** Signing in with a passkey, and the passkeys of the admin who is signed in. */
    passkeys: createPasskeys(transport, ['admin'], signIn),
    /** Completes a sign-in that needs a second factor. */
    confirmMfa,
    secondFactor: createSecondFactor(requests),
    logout: (options?: CallOptions) => endSession(transport, session, ['admin'], options),
    me: (options?: CallOptions) => get<AdminAccount>(['admin', 'me'], options),
    sessions: createSessions(transport, ['admin']),
    /** Gets a token with which the admin acts as a user. Give it to a separate client. */
    impersonate: (collection: string, id: string, options?: CallOptions) =>
      post<{ readonly token: string; readonly impersonated_by: string }>(
        ['admin', 'impersonate', collection, id],
        {},
        options,
      ),
    admins: {
      list: (options?: CallOptions) => get<readonly AdminAccount[]>(['admin', 'admins'], options),
      create: (credentials: Credentials, options?: CallOptions) =>
        create<AdminAccount>(['admin', 'admins'], credentials, options),
      update: (id: string, changes: AdminValues, options?: CallOptions) =>
        patch<AdminAccount>(['admin', 'admins', id], changes, options),
      delete: (id: string, options?: CallOptions) => remove(['admin', 'admins', id], options),
    },
    users: createUsers(transport, requests),
    collections: createCollections(transport, requests),
    webhooks: createWebhooks(requests),
    events: createEvents(requests),
    jobs: createJobs(transport, requests),
    /** Erases a record with all that is stored about it, as a job. */
    erase: (collection: string, id: string, how: Erasure = {}, options?: CallOptions) =>
      post<Job>(['admin', 'erase', collection, id], how, options),
    extensionJobs: createExtensionJobs(requests),
    mails: createMails(requests),
    keys: createKeys(requests),
    savedViews: createSavedViews(requests),
    backups: createBackups(transport, requests),
    moves: createMoves(transport, requests),
    settings: {
      get: (options?: CallOptions) => get<Settings>(['admin', 'settings'], options),
      /** Gets all settings by subject with what they mean, without secret values. */
      groups: (options?: CallOptions) => get<readonly SettingGroup[]>(['admin', 'settings', 'groups'], options),
      /** Changes settings, all or none. An empty text restores the default. */
      update: (changes: Settings, options?: CallOptions) => patch<Settings>(['admin', 'settings'], changes, options),
      testEmail: (values: { readonly to: string }, options?: CallOptions) =>
        post<unknown>(['admin', 'settings', 'test-email'], values, options),
    },
    /** The admin pages' colours. */
    theme: (options?: CallOptions) => get<Settings>(['admin', 'theme'], options),
    crons: {
      list: (options?: CallOptions) => get<readonly Cron[]>(['admin', 'crons'], options),
      runs: (name: string, paging?: PageOptions, options?: CallOptions) =>
        page<Page<CronRun>>(['admin', 'crons', name, 'runs'], paging, options),
      run: (name: string, options?: CallOptions) => create<CronRun>(['admin', 'crons', name, 'run'], {}, options),
    },
    notifications: {
      /** Sends a push notification at once. */
      test: (values: Readonly<Record<string, unknown>>, options?: CallOptions) =>
        post<Readonly<Record<string, unknown>>>(['admin', 'notifications', 'test'], values, options),
    },
    audit: (filter?: AuditFilter, options?: CallOptions) => page<Page<AuditRow>>(['admin', 'audit'], filter, options),
    logs: (filter?: LogFilter, options?: CallOptions) => page<Page<LogRow>>(['admin', 'logs'], filter, options),
    /** Counts and measures the requests answered in a time range. */
    logSummary: async (span?: SpanOptions, options?: CallOptions) =>
      (await page<{ readonly data: RequestSummary }>(['admin', 'logs', 'summary'], span, options)).data,
    /** All services' metrics. */
    metrics: (options?: CallOptions) =>
      transport.data<readonly Metric[]>({ method: 'GET', path: '/_/metrics', ...options }),
    /** Whether the services are ready, with the reasons. */
    readiness: (options?: CallOptions) => transport.data<Readiness>({ method: 'GET', path: '/readyz', ...options }),
  };
}

export type Admin = ReturnType<typeof createAdmin>;
