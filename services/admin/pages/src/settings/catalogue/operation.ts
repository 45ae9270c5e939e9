import { choice, item, lines, number, type Section, time } from './section.ts';

export const limits: Section = {
  name: 'Limits',
  about: 'How much one caller may ask for, and how much one request may cost.',
  parts: [
    {
      settings: [
        item('rate_limit.enabled', 'Rate limits', 'Refuses callers that send too many requests, with 429.'),
        item(
          'rate_limit.rules',
          'Rules',
          'The rule with the closest path decides. A path ends in * for everything below it. #label before it: only service keys with this label.',
          { kind: 'rates' },
        ),
      ],
    },
    {
      title: 'Requests',
      settings: [
        item(
          'records.read_timeout_ms',
          'Longest read',
          'A read, or a rule, that takes longer is refused as too expensive.',
          time('ms'),
        ),
        item('records.export_timeout_ms', 'Longest export', 'An export that takes longer is cut off.', time('ms')),
        item('records.max_answer_bytes', 'Largest answer', 'A larger one is refused.', { kind: 'size' }),
        item('jobs.max_pending', 'Waiting jobs of an extension', 'Further jobs are refused.', { kind: 'number' }),
        item('jobs.max_body_bytes', 'Largest import', 'A larger file is refused.', { kind: 'size' }),
        item('batch.max_operations', 'Largest batch', 'How many writes one batch may hold.', number('operations')),
      ],
    },
    {
      title: 'Live connections',
      settings: [
        item('realtime.max_connections_per_principal', 'For one account', 'On each replica.', number('connections')),
        item('realtime.max_connections_per_address', 'From one address', 'On each replica.', number('connections')),
      ],
    },
  ],
};

export const channels: Section = {
  name: 'Channels',
  about: 'Who may send and follow messages between clients. Nothing is stored.',
  parts: [
    {
      settings: [
        item(
          'realtime.channels',
          'Channel rules',
          'The first pattern that matches a channel decides. * stands for any characters. A name that matches none is refused, for admins too.',
          { kind: 'channels' },
        ),
      ],
    },
  ],
};

export const files: Section = {
  name: 'Files',
  about: 'Uploaded files and their previews.',
  parts: [
    {
      settings: [
        item(
          'files.host',
          'Host for files',
          'A host of its own that serves files and nothing else, such as files.example.com. Empty: every host serves them, in a sandbox.',
        ),
        item(
          'files.thumbs_max_bytes',
          'Kept image previews',
          'Beyond this, the least recently used are made again when needed.',
          { kind: 'size' },
        ),
      ],
    },
  ],
};

export const pocketBase: Section = {
  name: "PocketBase's clients",
  about: 'Apps that were written for PocketBase can use this stack unchanged.',
  parts: [
    {
      settings: [
        item('pocketbase.enabled', "PocketBase's clients", 'Answers them at /pb. Give your app this address.'),
        item(
          'pocketbase.hosts',
          'Hosts without /pb',
          'Hosts at which an installed app finds this stack under its own address.',
          lines('api.example.com'),
        ),
        item(
          'pocketbase.replay_s',
          'Missed changes',
          'A client whose connection broke gets what it missed if it comes back in this time. 0 switches it off.',
          time('s'),
        ),
      ],
    },
  ],
};

export const webhooks: Section = {
  name: 'Webhooks',
  about: 'What happens to receivers that fail, and where webhooks may go.',
  parts: [
    {
      settings: [
        item(
          'webhooks.pause_after_seconds',
          'Pause after failing for',
          'A paused webhook waits, and loses nothing. 0 means never.',
          time('s'),
        ),
        item(
          'webhooks.pause_seconds',
          'Pause for',
          'Then one delivery is tried. If it succeeds, the others follow.',
          time('s'),
        ),
        item('webhooks.disable_after_seconds', 'Disable after failing for', '0 means never.', time('s')),
        item(
          'webhooks.retention_days',
          'Keep deliveries for',
          'Events and their deliveries, to look at and to send again.',
          time('d'),
        ),
      ],
    },
    {
      title: "Customers' webhooks",
      about: 'Records that may own webhooks. A collection says in its webhook rule what they get.',
      settings: [
        item(
          'webhooks.owners.<collection>',
          'Webhooks of <collection>',
          "JSON: manage_rule says who manages a record's webhooks, events what they may get, max how many, hosts where, mail who hears about failures. Empty for none.",
          { kind: 'long' },
        ),
        item('webhooks.mail_after_seconds', 'Mail the owner after failing for', '0 means never.', time('s')),
        item(
          'webhooks.portal_frames',
          'Pages that may frame the portal',
          'Origins of pages that show the webhook portal in a frame, one in each line.',
          lines('https://app.example.com'),
        ),
      ],
    },
    {
      title: 'Where requests may go',
      about: 'Also for requests that extensions and sign-in providers cause.',
      settings: [
        item(
          'hooks.http.deny',
          'Blocked networks',
          'One in each line. This list replaces the default, which blocks private networks; the word off blocks none.',
          lines('10.0.0.0/8'),
        ),
        item(
          'hooks.http.allow',
          'Allowed in spite of that',
          'One in each line. To reach a receiver on this machine: 127.0.0.0/8.',
          lines('127.0.0.0/8'),
        ),
      ],
    },
    {
      title: 'Other readers of the bus',
      settings: [
        item(
          'events.kept_for',
          'Consumers that must not miss an event',
          "Names of other systems' durable consumers, one in each line. When the stream is full, publishing waits for them.",
          lines('warehouse'),
        ),
      ],
    },
  ],
};

export const backups: Section = {
  name: 'Backups',
  about: 'When backups are made without a request, and how many stay.',
  parts: [
    {
      settings: [
        item(
          'backups.cron',
          'Schedule',
          'Minute, hour, day, month and weekday in UTC: 0 3 * * * is every day at 3:00. Empty: no schedule.',
        ),
        item(
          'backups.keep',
          'Keep',
          'How many scheduled backups stay. The oldest goes first. Others stay until you delete them.',
          number('backups'),
        ),
      ],
    },
  ],
};

export const observability: Section = {
  name: 'Observability',
  about: 'Logs, metrics, and how long they are kept.',
  parts: [
    {
      settings: [
        item(
          'logs.access',
          'Requests in the terminal',
          'Which requests the gateway prints.',
          choice({ notable: 'Refused and slow ones', all: 'All', off: 'None' }),
        ),
        item('logs.slow_ms', 'Slow from', 'A request that takes longer counts as slow.', time('ms')),
        item('logs.retention_days', 'Keep the request log for', 'Then its rows are deleted.', time('d')),
        item('logs.requests_max_bytes', 'Largest request log', 'Beyond this, the oldest rows go first.', {
          kind: 'size',
        }),
        item('audit.retention_days', 'Keep the audit log for', 'Then its rows are deleted.', time('d')),
        item('mail.retention_days', 'Keep the mail log for', 'Then rows of ended mails are deleted.', time('d')),
        item('jobs.retention_days', 'Keep finished jobs for', 'With their files.', time('d')),
      ],
    },
    {
      title: 'Metrics',
      settings: [
        item('metrics.enabled', 'Serve metrics', 'For Prometheus, at /api/v1/metrics.'),
        item(
          'metrics.token',
          'Token',
          'Who asks for metrics must send it as a bearer token. Without one, everyone may read them.',
        ),
      ],
    },
  ],
};

export const push: Section = {
  name: 'Push notifications',
  about: 'Services that bring notifications to phones and browsers.',
  parts: [
    {
      title: 'OneSignal',
      about: 'At onesignal.com: your app, Settings, Keys & IDs.',
      settings: [
        item('notifications.providers.onesignal.enabled', 'OneSignal: use', 'Send by OneSignal.'),
        item('notifications.providers.onesignal.app_id', 'OneSignal: app ID', 'Paste "OneSignal App ID".'),
        item('notifications.providers.onesignal.api_key', 'OneSignal: API key', 'Paste an "App API Key".'),
      ],
    },
    {
      title: 'Firebase Cloud Messaging',
      about: 'At console.firebase.google.com: project settings, Service accounts, Generate new private key.',
      settings: [
        item('notifications.providers.fcm.enabled', 'Firebase: use', 'Send by Firebase Cloud Messaging.'),
        item('notifications.providers.fcm.service_account', 'Firebase: service account', 'Paste the whole file.'),
        item('notifications.providers.fcm.project_id', 'Firebase: project ID', 'Empty takes the one in the file.'),
      ],
    },
  ],
};

const colour = (name: string, label: string, about: string) => item(`theme.${name}`, label, about, { kind: 'colour' });

export const appearance: Section = {
  name: 'Appearance',
  about: 'Colours for these pages, in the dark theme.',
  parts: [
    {
      settings: [
        colour('accent', 'Accent', 'Buttons and selections.'),
        colour('accent_hover', 'Accent, pointed at', 'Buttons under the pointer.'),
        colour('accent_light', 'Accent, light', 'Links.'),
        colour('bg_app', 'Background', 'Behind the page.'),
        colour('bg_sidebar', 'Navigation', 'Behind the navigation.'),
        colour('bg_panel', 'Panels', 'Behind tables and dialogs.'),
        colour('text_primary', 'Text', 'Most text.'),
        colour('text_secondary', 'Quiet text', 'Hints and labels.'),
        colour('success', 'Success', 'What went well.'),
        colour('warning', 'Warning', 'What to look at.'),
        colour('danger', 'Danger', 'Errors, and what cannot be undone.'),
      ],
    },
  ],
};
