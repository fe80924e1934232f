import type { ReactNode } from 'react';

// A page is made for each request, since it holds the nonce of proxy.ts.
export const dynamic = 'force-dynamic';

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
