import { createPrivateKey } from 'node:crypto';
import { boundedText } from '@recordbus/text/bounded-text';
import { parseJson } from '@recordbus/text/json';
import { z } from 'zod';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { flag, httpUrl, opaque, privateKeyPem } from './text-schemas.ts';

const uuid = z
  .string()
  .regex(
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    'must be a UUID, as in 0f8fad5b-d9cb-469f-a165-70867728950e',
  );

const projectId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.:-]{0,62}$/, 'must be a project id: lower-case letters, digits and hyphens');

/** The members in a Google service account document that a signed JWT needs (RFC 7523). */
const serviceAccountDocument = z.object(
  {
    type: z.literal('service_account', 'must be "service_account"').optional(),
    project_id: z.string('must be a string').min(1, 'must not be empty'),
    private_key_id: z.string('must be a string').optional(),
    private_key: z.string('must be a string').pipe(privateKeyPem).refine(isRsaKey, 'must be an RSA key and complete'),
    client_email: boundedText(320).regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address'),
    token_uri: z.string('must be a string').pipe(httpUrl).optional(),
  },
  "must be a service account's JSON document",
);

export type ServiceAccount = z.output<typeof serviceAccountDocument>;

const serviceAccount = z.string().transform((text, context): ServiceAccount => {
  const result = serviceAccountDocument.safeParse(parseJson(text));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const message = [...(issue?.path ?? []), issue?.message ?? 'is not valid'].join(' ');
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

export const push = settingGroup('Push notification providers', ['admin', 'records'], {
  'notifications.providers.onesignal.enabled': setting(flag, '0', 'Send push notifications by OneSignal.'),
  'notifications.providers.onesignal.app_id': unsetSetting(uuid, '', 'App id at OneSignal, a UUID.'),
  'notifications.providers.onesignal.api_key': unsetSetting(opaque, '', 'API key at OneSignal.'),
  'notifications.providers.fcm.enabled': setting(flag, '0', 'Send push notifications by Firebase Cloud Messaging.'),
  'notifications.providers.fcm.project_id': unsetSetting(
    projectId,
    '',
    'Firebase project id; empty takes the one in the service account.',
  ),
  'notifications.providers.fcm.service_account': unsetSetting(
    serviceAccount,
    undefined,
    "The service account's whole JSON document.",
  ),
});
