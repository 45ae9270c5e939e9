/** A receiver to run in a terminal. It prints each delivery and answers 200. */
export const localUrl = 'http://127.0.0.1:9000/';
export const localReceiver = `node -e "require('http').createServer((q,s)=>{q.on('data',d=>console.log(d+''));q.on('end',()=>s.end())}).listen(9000)"`;

/** Returns a receiver that also checks each delivery's signature, and refuses those that are not genuine (webhooks §5.3). */
export const verifyingReceiver = (url: string, secret: string): string =>
  `node -e "const c=require('crypto'),k=Buffer.from('${secret}'.slice(6),'base64');require('http').createServer((q,s)=>{const b=[];q.on('data',d=>b.push(d));q.on('end',()=>{const h=q.headers,t=h['webhook-timestamp'],m=c.createHmac('sha256',k).update(h['webhook-id']+'.'+t+'.').update(Buffer.concat(b)).digest('base64'),ok=Math.abs(Date.now()/1000-t)<300&&(h['webhook-signature']||'').split(' ').includes('v1,'+m);console.log(ok?'verified':'not genuine',Buffer.concat(b)+'');s.writeHead(ok?200:401).end()})}).listen(${portOf(url)})"`;

const portOf = (url: string): string => {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
};

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
