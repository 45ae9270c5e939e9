import { ok, type Route, route } from '@recordbus/http';
import { type NotificationResult, type Notifier, notificationSchema } from '@recordbus/notifications';
import type { Settings } from '@recordbus/settings';
import { z } from 'zod';

interface NotificationRoutesDeps {
  readonly settings: Pick<Settings, 'refresh'>;
  readonly notifier: Notifier;
}

const result: z.ZodType<NotificationResult> = z.object({
  provider: z.enum(['onesignal', 'fcm']),
  sent: z.number().int(),
  failed: z.number().int(),
  results: z.array(
    z.object({
      target: z.string(),
      status: z.enum(['sent', 'invalid', 'failed']),
      id: z.string().optional(),
      error: z.string().optional(),
    }),
  ),
});

/** Sends test notifications through the push notification providers (notifications §1). */
export const notificationRoutes = ({ settings, notifier }: NotificationRoutesDeps): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/admin/notifications/test',
    access: 'admin',
    scope: 'settings:write',
    summary: 'Send a push notification at once and report the result for each target',
    body: notificationSchema,
    answers: { 200: result, 422: 'not a notification, or the provider is not enabled' },
    async handler({ body }) {
      // The caller has probably just changed the settings.
      await settings.refresh();
      return ok(await notifier.send(body));
    },
  }),
];
