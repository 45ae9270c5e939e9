import { AppError } from '@recordbus/errors';
import type { LiveReads, OpenedPlan, OpenResult } from '@recordbus/live';
import type { ChannelSubscriptionRequest } from '../channels/channel-request.ts';
import type { Admission as ChannelAdmission } from '../channels/channel-subscription.ts';
import type { Channels } from '../channels/channels.ts';
import type { Connection } from '../connection/connection.ts';
import type { ReadSubscription, RecordSubscriptionRequest } from './subscription-request.ts';

/** A subscription that its caller may have. */
export interface Opened extends OpenedPlan {
  readonly wanted: RecordSubscriptionRequest;
}

/** A subscription to a channel that its caller may have. */
export interface Admitted {
  readonly wanted: ChannelSubscriptionRequest;
  readonly admission: ChannelAdmission;
}

/** A parsed subscription, with its plan or its refusal. */
export type Admission = Opened | Admitted | { readonly id: string; readonly refusal: AppError };

interface AdmitDeps {
  readonly live: Pick<LiveReads, 'open'>;
  readonly channels: Pick<Channels, 'admit'>;
}

/** Checks one caller's subscriptions. Returns one result for each, in order. */
export async function admitSubscriptions(
  { live, channels }: AdmitDeps,
  wanted: readonly ReadSubscription[],
  caller: Connection['caller'],
): Promise<readonly Admission[]> {
  const readable = wanted.filter((one) => 'request' in one);
  const results = readable.length > 0 ? await live.open(readable.map(({ request }) => ({ request, caller }))) : [];
  const byWanted = new Map<ReadSubscription, OpenResult | undefined>(
    readable.map((one, place) => [one, results[place]]),
  );
  const admissions: Admission[] = [];
  for (const one of wanted) {
    if ('refusal' in one) admissions.push(one);
    else if ('channel' in one) admissions.push(await admitToChannel(channels, one, caller));
    else admissions.push(openedOf(one, byWanted.get(one)));
  }
  return admissions;
}

function openedOf(wanted: RecordSubscriptionRequest, result: OpenResult | undefined): Admission {
  if (!result) throw new Error('a subscription was not checked');
  return 'refusal' in result ? { id: wanted.id, refusal: result.refusal } : { ...result, wanted };
}

async function admitToChannel(
  channels: AdmitDeps['channels'],
  wanted: ChannelSubscriptionRequest,
  { principal }: Connection['caller'],
): Promise<Admission> {
  try {
    return { wanted, admission: await channels.admit(wanted.channel, principal) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { id: wanted.id, refusal: error };
  }
}
