import { urlOf, variable } from '@recordbus/process/config';

/** OneSignal's API. */
export const onesignalUrl = variable(
  'SERVICE_ONESIGNAL_URL',
  'OneSignal API.',
  urlOf('http').default('https://api.onesignal.com'),
);

/** Firebase Cloud Messaging's API. */
export const fcmUrl = variable(
  'SERVICE_FCM_URL',
  'Firebase Cloud Messaging API.',
  urlOf('http').default('https://fcm.googleapis.com'),
);
