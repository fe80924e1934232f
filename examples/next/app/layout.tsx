import type { ReactNode } from 'react';

// Pages are rendered for each request, since they contain the nonce of proxy.ts.
export const dynamic = 'force-dynamic';

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
