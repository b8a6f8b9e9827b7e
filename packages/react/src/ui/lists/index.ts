/** Lists of chats, and of what they wait for. */
export { ChatList, type ChatListProps, type ListedChat } from "./chatList.tsx"
export { Inbox, type InboxProps, type ListedWait } from "./inbox.tsx"
