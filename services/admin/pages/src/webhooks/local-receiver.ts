/** A receiver to run in a terminal. It prints each delivery and answers 200. */
export const localUrl = 'http://127.0.0.1:9000/';
export const localReceiver = `node -e "require('http').createServer((q,s)=>{q.on('data',d=>console.log(d+''));q.on('end',()=>s.end())}).listen(9000)"`;

/** This machine's addresses, as a value for `hooks.http.allow`. */
export const loopback = '127.0.0.0/8';

/** Whether a URL is on the stack's own machine, which is denied by default (webhooks §7.1). */
export function isLocal(url: string): boolean {
  try {
    return /^(localhost|127(\.\d{1,3}){3})$/.test(new URL(url).hostname);
  } catch {
    return false;
  }
}

/** Whether the setting allows deliveries to this machine. */
export const allowsLocal = (allowed: string): boolean =>
  allowed.split(/[\s,]+/).some((one) => one === loopback || one === '127.0.0.1');
