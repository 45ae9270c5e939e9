import { choice, item, lines, type Section } from './section.ts';

const language = item('email.lang', 'Language', 'The language of the mails, such as en or pt-BR, for screen readers.');

const template = (name: string, title: string, variables: string) => ({
  title,
  about: `Variables: ${variables}`,
  settings: [
    item(`email.${name}.subject`, `${title}: subject`, 'The subject line.'),
    item(`email.${name}.body`, `${title}: text`, 'The text. A line that is only {{link}} becomes the link.', {
      kind: 'long',
    }),
    item(`email.${name}.subject.<lang>`, `${title}: subject in <lang>`, 'The subject line in this language.'),
    item(`email.${name}.body.<lang>`, `${title}: text in <lang>`, 'The text in this language.', { kind: 'long' }),
  ],
});

const common = '{{email}} {{token}} {{link}} {{appUrl}} {{collection}}';

export const general: Section = {
  name: 'General',
  about: 'What your app is called from outside, and who may read its description.',
  parts: [
    {
      settings: [
        item(
          'app.url',
          'Address of your app',
          'Where your users open your app. Links in mails lead there, such as https://app.example.com.',
        ),
        item(
          'openapi.audience',
          'API document',
          'Who may read the API document and the page at /docs. For others they do not exist.',
          choice({ all: 'Everyone', users: 'Users and admins', admins: 'Admins' }),
        ),
        item('update_check.enabled', 'Look for updates', 'Asks every 6 hours whether a newer Recordbus is out.'),
        item(
          'http.compression',
          'Compress answers',
          'Makes JSON answers from 1 KiB smaller for clients that can read it.',
        ),
      ],
    },
  ],
};

export const browsers: Section = {
  name: 'Browsers and proxies',
  about: 'Which websites may call the API, and which proxies are in front of it.',
  parts: [
    {
      settings: [
        item(
          'cors.origins',
          'Websites that may call the API',
          'One origin in each line. * stands for one label or the port, and alone for every website. Empty: none but this server.',
          lines('https://app.example.com'),
        ),
        item('cors.methods', 'Allowed methods', 'HTTP methods that these websites may use.', lines('GET')),
        item(
          'cors.headers',
          'Allowed headers',
          'Request headers that these websites may send, in addition to the ones that Recordbus itself needs.',
          lines('X-My-Header'),
        ),
        item('cors.credentials', 'Allow cookies', 'Lets browsers send cookies along. Recordbus itself uses none.'),
        item('cors.max_age', 'Remember permission for', 'How long a browser need not ask again.', {
          kind: 'time',
          unit: 's',
        }),
        item(
          'security.trusted_proxies',
          'Trusted proxies',
          'Networks of the proxies in front of Recordbus, one in each line. They say what address a request came from.',
          lines('10.0.0.0/8'),
        ),
      ],
    },
  ],
};

export const mail: Section = {
  name: 'Mail',
  about: 'The mail server that sends verification, reset and sign-in mails.',
  parts: [
    {
      settings: [
        item('smtp.enabled', 'Send mail', 'Needs a mail server and a sender.'),
        item('smtp.host', 'Mail server', 'Its name or address, without port, such as smtp.example.com.'),
        item('smtp.port', 'Port', 'Usually 587, or 465 for TLS from the first byte.', { kind: 'number' }),
        item(
          'smtp.secure',
          'Encryption',
          'How the connection begins. Your mail provider says which one it expects.',
          choice({ 0: 'STARTTLS (usually port 587)', 1: 'TLS from the first byte (usually port 465)' }),
        ),
        item(
          'smtp.require_tls',
          'Without encryption',
          'What to do if the mail server offers no encryption.',
          choice({ '': 'Send only to a server on this machine', 1: 'Never send', 0: 'Send anyway' }),
        ),
        item('smtp.user', 'User name', 'Leave empty if the mail server asks for none.'),
        item('smtp.pass', 'Password', 'The password, or the app password, at the mail server.'),
        item('smtp.from', 'Sender', 'Who the mails are from, such as Acme <hello@example.com>.'),
        language,
        item(
          'mail.locale_field.<collection>',
          'Field with the language in <collection>',
          'The field that says in which language an account gets its mails, such as locale. Empty: all accounts get the same.',
        ),
      ],
    },
    {
      title: 'Mail that comes in',
      settings: [
        item(
          'mail.inbound.postmark.secret',
          'Postmark password',
          'The password in the URL of your inbound stream: https://postmark:<password>@<this server>/api/v1/mail/inbound/postmark.',
        ),
        item(
          'mail.inbound.mailgun.secret',
          'Mailgun signing key',
          'The HTTP webhook signing key, from the API security page at Mailgun.',
        ),
        item(
          'mail.inbound.ses.secret',
          'Amazon SNS topic',
          'The ARN of the topic to which the receipt rule of Amazon SES publishes mails.',
        ),
      ],
    },
  ],
};

export const mailTexts: Section = {
  name: 'Mail texts',
  about: 'What the mails say.',
  parts: [
    template('verify', 'Verification', common),
    template('reset', 'Password reset', common),
    template('otp', 'Sign-in code', `${common} {{code}}`),
    template('mfa', 'Second factor', '{{email}} {{code}} {{appUrl}} {{collection}}'),
    template('change', 'New address', common),
    template('change_notice', 'Address changed', '{{email}} {{newEmail}} {{appUrl}} {{collection}}'),
    template('change_undo', 'Undo address change', `${common} {{newEmail}}`),
    template('password_notice', 'Password changed', '{{email}} {{appUrl}} {{collection}}'),
    template('removed_notice', 'Sign-in removed', '{{email}} {{removed}} {{appUrl}} {{collection}}'),
    template('webhook_failing', 'Webhook fails', '{{email}} {{webhook}} {{host}} {{since}} {{appUrl}} {{collection}}'),
    template(
      'webhook_disabled',
      'Webhook disabled',
      '{{email}} {{webhook}} {{host}} {{reason}} {{appUrl}} {{collection}}',
    ),
  ],
};
