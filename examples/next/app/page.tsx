export default function Page() {
  return <main>The chats are at /api/chat.</main>
}
