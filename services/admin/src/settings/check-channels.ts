import { validationFailed } from '@recordbus/errors';
import { checkChannelRule, findRequestNames, QueryError, readsRequestBody } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { channelRules, type SettingsPatch } from '@recordbus/settings';

const key = 'realtime.channels';

/** Throws 422 that names the first channel rule that cannot be evaluated (realtime §7.2). */
export function checkChannelsOf(patch: SettingsPatch, collections: readonly Collection[]): void {
  const text = patch[key];
  if (text === undefined || text === '') return;
  for (const [index, entry] of channelRules.parse(text).entries())
    for (const name of ['publish_rule', 'subscribe_rule'] as const) {
      const problem = findProblem(entry[name], collections);
      if (problem !== undefined) throw validationFailed({ [key]: `pattern ${index + 1}: ${name} ${problem}` });
    }
}

function findProblem(rule: string | null, collections: readonly Collection[]): string | undefined {
  if (rule === null || rule === '') return undefined;
  try {
    checkChannelRule(rule, {
      schema: { findCollection: (name) => collections.find((one) => one.name === name) },
      accounts: collections.filter(({ type }) => type === 'auth'),
    });
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
  // The rule is also checked later on the open connection, without a request.
  const { query, headers } = findRequestNames(rule);
  return query.length > 0 || headers.length > 0 || readsRequestBody(rule)
    ? 'can read @request.auth and @channel only'
    : undefined;
}
